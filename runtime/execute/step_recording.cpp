//===- step_recording.cpp - an observer that records steps ----------------===//

#include "runtime/execute/step_recording.h"

#include <algorithm>

namespace zero::rt {

StepRecording::StepRecording(Recorder &recorder, Queue &queue, const Communicator &communicator,
                             uint64_t commands, uint32_t firstCommand)
    : recorder(recorder), queue(queue), communicator(communicator), firstCommand(firstCommand),
      notes(queue.hasClock() && queue.makeNotes(endOf(commands)).ok()) {
  if (notes)
    noted.reserve(commands);
}

bool StepRecording::begin(uint64_t step, Mode mode) {
  runs = false;
  if (!isTraining(mode) || recorder.isFull())
    return false;
  recorder.beginStep(step);
  noted.clear();
  began = recorder.now(); // the device is idle
  notes = notes && queue.note(0).ok();
  return true;
}

Status StepRecording::beforeCommand(const CommandRun &run) {
  if (run.skipped)
    return {};
  runs = true;
  collects = std::holds_alternative<CollectiveCommand>(run.command->body);
  event = {firstCommand + run.index, uint32_t(run.iteration), 0, 0, waited()};
  event.begin = recorder.now();
  return notes ? queue.note(beginOf(noted.size())) : Status();
}

Status StepRecording::after() {
  if (!runs)
    return {};
  runs = false;
  // includes asynchronous work, whose time is not recorded elsewhere
  Status status = notes ? queue.note(endOf(noted.size())) : queue.finish();
  event.end = recorder.now();
  event.waited = waited() - event.waited;
  if (notes)
    noted.push_back(event);
  else
    recorder.add(event);
  return status;
}

void StepRecording::endStep() {
  constexpr double kNanoseconds = 1e9;
  const uint64_t now = recorder.now(); // the clocks of host and device may differ a little
  auto timeOf = [&](size_t note, uint64_t hosts) {
    double seconds = 0;
    if (!queue.secondsBetween(0, note, seconds).ok())
      return hosts;
    return std::min(began + uint64_t(std::max(seconds, 0.0) * kNanoseconds), now);
  };
  for (size_t command = 0; command < noted.size(); ++command) {
    zero_rt_event &each = noted[command];
    each.begin = timeOf(beginOf(command), each.begin);
    each.end = std::max(timeOf(endOf(command), each.end), each.begin);
    each.waited = std::min(each.waited, each.end - each.begin);
    recorder.add(each);
  }
  recorder.endStep();
}

void StepRecording::ranOnLane(size_t thread, const CommandRun &run, const LaneWork::Span &span) {
  recorder.add({firstCommand + run.index, uint32_t(run.iteration), recorder.at(span.begin),
                recorder.at(span.end), span.waited},
               thread);
}

} // namespace zero::rt
