//===- timeline.h - simulate a step with estimated times --------*- C++ -*-===//

#ifndef RUNTIME_VERIFY_TIMELINE_H
#define RUNTIME_VERIFY_TIMELINE_H

#include "runtime/format/executable.pb.h"
#include "runtime/verify/simulation.h"
#include "zero_rt/zero_rt.h"

#include <array>
#include <vector>

namespace zero::rt {

/// The costs of commands.
struct StepCosts {
  std::vector<double> seconds; ///< by command of the program, each time that it runs
  bool overlaps = false;       ///< collectives run beside kernels, also without transfers
  /// by simulated rank: the factor by which its computations are slower
  std::vector<double> slowness = {1};
  std::array<Shares, ZERO_RT_LANES> shares = {}; ///< of commands on each lane
};

/// A step in the form of a recording. All simulated ranks execute the same commands.
struct Timeline {
  std::vector<std::vector<zero_rt_event>> events; ///< of each rank, as they begin
  double seconds = 0;                             ///< of the step
  double stalled = 0; ///< of them, rank 0's own thread waits for its other lanes
  std::array<zero_rt_lane_use, ZERO_RT_LANES> lanes{}; ///< of rank 0
  /// By lane of rank 0, its commands on the critical path: those that follow each other without a
  /// gap up to the end of each iteration. They add up to `seconds`.
  std::array<double, ZERO_RT_LANES> critical{};
};

/// Converts seconds to the unit of events, whose range is some hundred years.
uint64_t nanoseconds(double seconds);

/// The costs that the commands of `program` contain, for a typical rank.
StepCosts plannedCosts(const proto::Program &program);

/// Simulates a step that is not skipped: each lane executes its commands in order, each after the
/// commands that it waits for; lanes meet at the end of each iteration, and reading inputs takes no
/// time. `program` has passed validate(). Without `keepsEvents` there are only sums.
Timeline layOut(const proto::Program &program, const StepCosts &costs, bool keepsEvents);

} // namespace zero::rt

#endif // RUNTIME_VERIFY_TIMELINE_H
