//===- calibrate.h - measure and describe this machine ----------*- C++ -*-===//

#ifndef RUNTIME_MEASURE_CALIBRATE_H
#define RUNTIME_MEASURE_CALIBRATE_H

#include "runtime/execute/team.h"
#include "runtime/format/machine.pb.h"

namespace zero::rt {

/// Measures the limits of a rank of `options` while all ranks do the same, in some seconds. With a
/// list of folders, also measures their drives. See zero_rt_calibrate().
Status calibrate(const TeamOptions &options, const std::string &diskFolders,
                 proto::Machine &machine);

} // namespace zero::rt

#endif // RUNTIME_MEASURE_CALIBRATE_H
