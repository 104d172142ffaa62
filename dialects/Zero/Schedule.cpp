//===- Schedule.cpp - when an op of the step runs -------------------------===//

#include "dialects/Zero/Schedule.h"

using namespace mlir;

namespace zero {

int64_t Schedule::countIterations(int64_t microBatches) const {
  if (segment == Segment::Epilogue)
    return 1;
  switch (iterations) {
  case Iterations::Every:
    return microBatches;
  case Iterations::Later:
    return microBatches - 1;
  case Iterations::First:
  case Iterations::Last:
    return 1;
  }
  llvm_unreachable("all iterations are listed");
}

bool Schedule::runsIn(int64_t iteration, int64_t count) const {
  switch (iterations) {
  case Iterations::Every:
    return true;
  case Iterations::First:
    return iteration == 0;
  case Iterations::Later:
    return iteration > 0;
  case Iterations::Last:
    return iteration + 1 == count;
  }
  llvm_unreachable("all iterations are listed");
}

Schedule scheduleOf(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return {Segment::Epilogue};
  auto attr = llvm::dyn_cast_or_null<ScheduleAttr>(op->getDiscardableAttr(kScheduleAttr));
  return attr ? Schedule{attr.getSegment(), attr.getIterations()} : Schedule();
}

void setSchedule(Operation *op, Schedule schedule) {
  if (schedule.isEveryMicroBatch())
    op->removeDiscardableAttr(kScheduleAttr);
  else
    op->setDiscardableAttr(
        kScheduleAttr, ScheduleAttr::get(op->getContext(), schedule.segment, schedule.iterations));
}

void setSegment(Operation *op, Segment segment) {
  setSchedule(op, {segment, scheduleOf(op).iterations});
}

void setIterations(Operation *op, Iterations iterations) {
  setSchedule(op, {segmentOf(op), iterations});
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, Segment segment,
                                   Iterations iterations) {
  if (segment == Segment::Epilogue && iterations != Iterations::Every)
    return emitError()
           << "expected no selection of micro-batches in the epilogue, which runs once, got '"
           << stringifyIterations(iterations) << "'";
  return success();
}

} // namespace zero
