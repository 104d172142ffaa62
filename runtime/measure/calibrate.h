//===- calibrate.h - measure and describe this machine ----------*- C++ -*-===//

#ifndef RUNTIME_MEASURE_CALIBRATE_H
#define RUNTIME_MEASURE_CALIBRATE_H

#include "runtime/execute/team.h"
#include "runtime/format/machine.pb.h"

namespace zero::rt {

/// Measures what a rank of `options` can do while all of them do the same, in some seconds;
/// with a folder, also how fast its disk is. See zero_rt_calibrate().
Status calibrate(const TeamOptions &options, const std::string &diskFolder,
                 proto::Machine &machine);

} // namespace zero::rt

#endif // RUNTIME_MEASURE_CALIBRATE_H
