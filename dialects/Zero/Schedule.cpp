//===- Schedule.cpp - when an op of the step runs -------------------------===//

#include "dialects/Zero/Schedule.h"

using namespace mlir;

namespace zero {

int64_t Schedule::countTurns(int64_t microBatches) const {
  if (segment == Segment::Epilogue)
    return 1;
  switch (turns) {
  case Turns::Every:
    return microBatches;
  case Turns::Later:
    return microBatches - 1;
  case Turns::First:
  case Turns::Last:
    return 1;
  }
  llvm_unreachable("all turns are listed");
}

Schedule scheduleOf(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return {Segment::Epilogue};
  auto attr = op->getAttrOfType<ScheduleAttr>(kScheduleAttr);
  return attr ? Schedule{attr.getSegment(), attr.getTurns()} : Schedule();
}

void setSchedule(Operation *op, Schedule schedule) {
  if (schedule.isEveryMicroBatch())
    op->removeDiscardableAttr(kScheduleAttr);
  else
    op->setDiscardableAttr(kScheduleAttr,
                           ScheduleAttr::get(op->getContext(), schedule.segment, schedule.turns));
}

void setSegment(Operation *op, Segment segment) {
  setSchedule(op, {segment, scheduleOf(op).turns});
}

void setTurns(Operation *op, Turns turns) { setSchedule(op, {segmentOf(op), turns}); }

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, Segment segment,
                                   Turns turns) {
  if (segment == Segment::Epilogue && turns != Turns::Every)
    return emitError()
           << "expected no selection of micro-batches in the epilogue, which runs once, got '"
           << stringifyTurns(turns) << "'";
  return success();
}

} // namespace zero
