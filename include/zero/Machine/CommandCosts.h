//===- CommandCosts.h - estimated times of commands -------------*- C++ -*-===//

#ifndef ZERO_MACHINE_COMMANDCOSTS_H
#define ZERO_MACHINE_COMMANDCOSTS_H

#include "runtime/format/executable.pb.h"
#include "zero/Planning/Machine.h"

namespace zero {

/// The work of a launch of `kernel`. The costs of a kernel over a dynamic dimension are those of
/// one element, of which there are `length`; 0 for other kernels.
planning::KernelCost costOf(const rt::proto::Kernel &kernel, int64_t length);

/// Seconds of `command` on a rank, from its start; for a collective from when all ranks have
/// arrived. The tables are those of the compiler, or have passed validate().
double commandSeconds(const planning::Machine &machine, const rt::proto::Program &program,
                      const rt::proto::Command &command);

/// Whether collectives of `program` run beside its kernels on `machine`, also without transfers: on
/// a machine whose lanes always overlap, and, if the program prefetches, on cores that its ranks
/// leave idle.
bool overlapsCollectives(const planning::Machine &machine, const rt::proto::Program &program);

} // namespace zero

#endif // ZERO_MACHINE_COMMANDCOSTS_H
