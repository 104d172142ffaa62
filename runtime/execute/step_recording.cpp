//===- step_recording.cpp - an observer that records steps ----------------===//

#include "runtime/execute/step_recording.h"

namespace zero::rt {

bool StepRecording::begin(uint64_t step, bool evaluates) {
  runs = false;
  if (evaluates || recorder.isFull())
    return false;
  recorder.beginStep(step);
  return true;
}

Status StepRecording::beforeCommand(const CommandRun &run) {
  if (run.skipped)
    return {};
  runs = true;
  collects = std::holds_alternative<CollectiveCommand>(run.command->body);
  event = {run.index, uint32_t(run.iteration), 0, 0, waited()};
  event.begin = recorder.now();
  return {};
}

Status StepRecording::after() {
  if (!runs)
    return {};
  runs = false;
  // includes asynchronous work, whose time is not recorded elsewhere
  Status status = queue.finish();
  event.end = recorder.now();
  event.waited = waited() - event.waited;
  recorder.add(event);
  return status;
}

void StepRecording::ranOnLane(size_t thread, const CommandRun &run, const LaneWork::Span &span) {
  recorder.add({run.index, uint32_t(run.iteration), recorder.at(span.begin), recorder.at(span.end),
                span.waited},
               thread);
}

} // namespace zero::rt
