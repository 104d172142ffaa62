//===- CommandCosts.h - what commands cost on a machine ---------*- C++ -*-===//

#ifndef ZERO_MACHINE_COMMANDCOSTS_H
#define ZERO_MACHINE_COMMANDCOSTS_H

#include "runtime/format/executable.pb.h"
#include "zero/Planning/Machine.h"

namespace zero {

/// What a launch of `kernel` does. Costs of a kernel over a dynamic dimension are those of an
/// element, of which there are `length`; 0 of others.
planning::KernelCost costOf(const rt::proto::Kernel &kernel, int64_t length);

/// Seconds of `command` on a rank, from when it begins; of a collective from when all ranks
/// have come. The tables are those of the compiler, or have passed validate().
double commandSeconds(const planning::Machine &machine, const rt::proto::Program &program,
                      const rt::proto::Command &command);

} // namespace zero

#endif // ZERO_MACHINE_COMMANDCOSTS_H
