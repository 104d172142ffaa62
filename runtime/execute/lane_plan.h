//===- lane_plan.h - assign commands and waits to threads -------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_LANE_PLAN_H
#define RUNTIME_EXECUTE_LANE_PLAN_H

#include "runtime/format/executable.pb.h"

#include <vector>

namespace zero::rt {

/// A command of a thread of a rank.
struct LaneStep {
  /// The number of commands of the segment that another thread must have completed before.
  struct Wait {
    size_t thread;
    uint64_t commands;
  };
  uint32_t command; ///< index in its segment
  std::vector<Wait> waits;
};

/// The commands of a program by thread. Thread 0 is the rank's own: it computes. Each other lane
/// that the program uses has one. Collectives have one in a program with transfers, and, if the
/// program prefetches, where `hasIdleCores`; else the rank's own thread runs them: it would wait
/// for them anyway.
class LanePlan {
public:
  LanePlan(const proto::Program &program, bool hasIdleCores);

  size_t threads() const { return lanes.size(); }
  /// The lane of a thread but the first.
  proto::Lane laneOf(size_t thread) const { return lanes[thread]; }
  /// The commands of segment `segment` that `thread` runs, in order.
  const std::vector<LaneStep> &steps(size_t segment, size_t thread) const {
    return segments[segment][thread];
  }

private:
  std::vector<proto::Lane> lanes;
  std::vector<std::vector<std::vector<LaneStep>>> segments;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_LANE_PLAN_H
