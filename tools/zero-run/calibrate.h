//===- calibrate.h - measure and describe this machine ----------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_CALIBRATE_H
#define TOOLS_ZERO_RUN_CALIBRATE_H

#include "options.h"

namespace zero::run {

/// Measures this machine and writes its description to the file of --calibrate.
rt::Status calibrate(const Options &options);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_CALIBRATE_H
