//===- ScheduleLike.h - when nodes of a written-out node run ----*- C++ -*-===//

#ifndef LIB_TRANSFORMS_SHAPE_SCHEDULELIKE_H
#define LIB_TRANSFORMS_SHAPE_SCHEDULELIKE_H

#include "dialects/Zero/Schedule.h"

namespace zero {

/// Schedules the ops between `before`, or the beginning of the block if it is null, and `op`, which
/// were written for `op`, as it is: a loss may be computed in the prologue, too.
inline void scheduleLike(mlir::Operation *op, mlir::Operation *before) {
  const Schedule schedule = scheduleOf(op);
  for (mlir::Operation *made = before ? before->getNextNode() : &op->getBlock()->front();
       made != op; made = made->getNextNode())
    if (!made->hasTrait<mlir::OpTrait::ConstantLike>())
      setSchedule(made, schedule);
}

} // namespace zero

#endif // LIB_TRANSFORMS_SHAPE_SCHEDULELIKE_H
