//===- lane_plan.h - assign commands and waits to threads -------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_LANE_PLAN_H
#define RUNTIME_EXECUTE_LANE_PLAN_H

#include "runtime/format/executable.pb.h"

#include <vector>

namespace zero::rt {

/// A command of a sequence.
struct LaneStep {
  /// The number of commands of the segment that another sequence must have completed before, and
  /// the last of them.
  struct Wait {
    size_t sequence;
    uint64_t commands;
    uint32_t last; ///< index in its segment
  };
  uint32_t command; ///< index in its segment
  std::vector<Wait> waits;
};

/// The commands of a program in sequences, which have an order among themselves only by waits. The
/// rank's own thread serves the first sequences, each other one has a thread.
class LanePlan {
public:
  /// Where the rank's own thread computes: it serves one sequence. Each other lane that the program
  /// uses has a thread. Collectives have one in a program with transfers, and, if the program
  /// prefetches, where `hasIdleCores`; else the rank's own thread runs them: it would wait for them
  /// anyway.
  LanePlan(const proto::Program &program, bool hasIdleCores);
  /// Where the device has lanes itself: the rank's own thread gives it their commands, each lane's
  /// in a sequence. Lanes of the host have threads.
  static LanePlan ofDeviceLanes(const proto::Program &program);

  size_t sequences() const { return lanes.size(); }
  /// The first sequences, which the rank's own thread serves.
  size_t ownSequences() const { return own; }
  size_t threads() const { return lanes.size() - own + 1; }
  /// The number of the thread that serves `sequence`; 0: the rank's own.
  size_t threadOf(size_t sequence) const { return sequence < own ? 0 : sequence - own + 1; }
  /// The lane of a sequence; the first one is of COMPUTE, and may have those of collectives, too.
  proto::Lane laneOf(size_t sequence) const { return lanes[sequence]; }
  /// The commands of segment `segment` that are in `sequence`, in order.
  const std::vector<LaneStep> &steps(size_t segment, size_t sequence) const {
    return segments[segment][sequence];
  }

private:
  LanePlan() = default;
  void plan(const proto::Program &program);

  std::vector<proto::Lane> lanes;
  size_t own = 1;
  std::vector<std::vector<std::vector<LaneStep>>> segments;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_LANE_PLAN_H
