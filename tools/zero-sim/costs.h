//===- costs.h - what commands cost on a machine ----------------*- C++ -*-===//

#ifndef TOOLS_ZERO_SIM_COSTS_H
#define TOOLS_ZERO_SIM_COSTS_H

#include "runtime/format/executable.pb.h"
#include "zero/Planning/Machine.h"

namespace zero::sim {

/// Seconds of `command` on a rank, from when it begins; of a collective from when all ranks
/// have come. The program has passed validate().
double secondsOf(const planning::Machine &machine, const rt::proto::Program &program,
                 const rt::proto::Command &command);

} // namespace zero::sim

#endif // TOOLS_ZERO_SIM_COSTS_H
