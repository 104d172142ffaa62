//===- DiskSpeed.h - what the disk of the nvme tier can do ------*- C++ -*-===//

#ifndef TOOLS_ZEROC_DISKSPEED_H
#define TOOLS_ZEROC_DISKSPEED_H

#include "zero/Driver/Compiler.h"

namespace zero {

/// Where something may lie on nvme, finds out how fast the disk of --nvme-dir is, unless options or
/// the machine's description say so: from the cache, or measured once and kept there by the number
/// of the disk. Sets the rates and where they come from. Returns what is wrong, or nothing; a disk
/// that cannot be measured is not wrong.
std::string findDiskSpeed(CompilerOptions &options);

} // namespace zero

#endif // TOOLS_ZEROC_DISKSPEED_H
