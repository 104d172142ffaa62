//===- Schedule.h - when an op of the step runs -----------------*- C++ -*-===//
// The only functions that read and write `zero.schedule`; see #zero.schedule.
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ZERO_SCHEDULE_H
#define DIALECTS_ZERO_SCHEDULE_H

#include "dialects/Zero/Zero.h"

namespace zero {

/// On an op of the step: a #zero.schedule. An op without it runs for every micro-batch.
inline constexpr llvm::StringLiteral kScheduleAttr = "zero.schedule";

struct Schedule {
  Segment segment = Segment::MicroBatch;
  Iterations iterations = Iterations::Every;

  bool operator==(const Schedule &) const = default;
  bool isEveryMicroBatch() const { return *this == Schedule(); }
  /// How many times a step of `microBatches` micro-batches executes an op with this schedule.
  int64_t countIterations(int64_t microBatches) const;
  /// Whether an op with this schedule runs in iteration `iteration` of `count` of its segment.
  bool runsIn(int64_t iteration, int64_t count) const;
  /// The schedule of an op that produces operands of an op with this schedule, or uses its results:
  /// the same segment, and the last iteration if this is the last. An op in the first iteration and
  /// one in the later iterations are both adjacent to ops that run in every iteration: each
  /// iteration executes one of them.
  Schedule beside() const {
    return {segment, iterations == Iterations::Last ? iterations : Iterations::Every};
  }
};

Schedule scheduleOf(mlir::Operation *op);
void setSchedule(mlir::Operation *op, Schedule schedule);

inline Segment segmentOf(mlir::Operation *op) { return scheduleOf(op).segment; }
inline bool isIn(mlir::Operation *op, Segment segment) { return segmentOf(op) == segment; }

/// Schedules `op` in `segment`, in the same iterations as before.
void setSegment(mlir::Operation *op, Segment segment);
/// Schedules `op` in the iterations `iterations` of its segment.
void setIterations(mlir::Operation *op, Iterations iterations);

} // namespace zero

#endif // DIALECTS_ZERO_SCHEDULE_H
