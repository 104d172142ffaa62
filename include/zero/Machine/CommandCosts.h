//===- CommandCosts.h - estimated times of commands -------------*- C++ -*-===//

#ifndef ZERO_MACHINE_COMMANDCOSTS_H
#define ZERO_MACHINE_COMMANDCOSTS_H

#include "runtime/verify/timeline.h"
#include "zero/Planning/Machine.h"

namespace zero {

/// The work of a launch of `kernel`. The costs of a kernel over a dynamic dimension are those of
/// one element, of which there are `length`; 0 for other kernels.
planning::KernelCost costOf(const rt::proto::Kernel &kernel, int64_t length);

/// Seconds of `command` on a rank, from its start; for a collective from when all ranks have
/// arrived. The tables are those of the compiler, or have passed validate().
double commandSeconds(const planning::Machine &machine, const rt::proto::Program &program,
                      const rt::proto::Command &command);

/// The ranks of a program.
struct Ranks {
  int64_t count = 1;
  int64_t threads = 1;     ///< of each
  bool prefetches = false; ///< gathers begin before they are needed
};
Ranks ranksOf(const rt::proto::Program &program);

using LaneShares = std::array<rt::Shares, ZERO_RT_LANES>;

/// By lane: the parts of what lanes share that commands take at full speed. A kernel of a host
/// beside devices takes all of the bandwidth of its memory.
LaneShares laneShares(const planning::Machine &machine, const Ranks &ranks);

/// Whether collectives run beside kernels on `machine`, also without transfers: on a machine whose
/// lanes always overlap, and, if the program prefetches, on cores that its ranks leave idle.
bool overlapsCollectives(const planning::Machine &machine, const Ranks &ranks);

} // namespace zero

#endif // ZERO_MACHINE_COMMANDCOSTS_H
