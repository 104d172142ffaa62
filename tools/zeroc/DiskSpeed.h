//===- DiskSpeed.h - speed of the disk of the nvme tier ---------*- C++ -*-===//

#ifndef TOOLS_ZEROC_DISKSPEED_H
#define TOOLS_ZEROC_DISKSPEED_H

#include "zero/Driver/Compiler.h"

namespace zero {

/// If nvme may be used, determines the speed of the disk of --nvme-dir, unless options or the
/// machine description have it: from the cache, or measured once and cached by the number of the
/// disk. Sets the rates and their source. Returns an error message, or an empty string; a disk that
/// cannot be measured is not an error.
std::string findDiskSpeed(CompilerOptions &options);

} // namespace zero

#endif // TOOLS_ZEROC_DISKSPEED_H
