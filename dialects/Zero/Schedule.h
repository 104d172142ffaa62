//===- Schedule.h - when an op of the step runs -----------------*- C++ -*-===//
//
// The only place that reads and writes `zero.schedule`; see #zero.schedule.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_ZERO_SCHEDULE_H
#define DIALECTS_ZERO_SCHEDULE_H

#include "dialects/Zero/Zero.h"

namespace zero {

/// On an op of the step: a #zero.schedule; every turn of the micro-batches without it.
inline constexpr llvm::StringLiteral kScheduleAttr = "zero.schedule";

struct Schedule {
  Segment segment = Segment::MicroBatch;
  Turns turns = Turns::Every;

  bool operator==(const Schedule &) const = default;
  bool isEveryMicroBatch() const { return *this == Schedule(); }
  /// How often a step of `microBatches` runs what has this schedule.
  int64_t countTurns(int64_t microBatches) const;
  /// The schedule of an op that makes operands of one with this schedule, or uses its results: the
  /// same segment, and the last turn if this is the last. An op in the first turn and one in the
  /// later ones are neighbours of what runs in every turn: each turn runs one of them.
  Schedule beside() const { return {segment, turns == Turns::Last ? turns : Turns::Every}; }
};

Schedule scheduleOf(mlir::Operation *op);
void setSchedule(mlir::Operation *op, Schedule schedule);

inline Segment segmentOf(mlir::Operation *op) { return scheduleOf(op).segment; }
inline bool isIn(mlir::Operation *op, Segment segment) { return segmentOf(op) == segment; }

/// `op` runs in `segment`, in the same turns as before.
void setSegment(mlir::Operation *op, Segment segment);
/// `op` runs in `turns` of its segment.
void setTurns(mlir::Operation *op, Turns turns);

} // namespace zero

#endif // DIALECTS_ZERO_SCHEDULE_H
