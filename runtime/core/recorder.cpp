//===- recorder.cpp - when each command of a rank ran ---------------------===//

#include "runtime/core/recorder.h"

namespace zero::rt {

Recorder::Recorder(uint64_t steps, uint64_t eventsPerStep, Clock::time_point origin)
    : steps(steps), events(steps * eventsPerStep), origin(origin) {}

void Recorder::beginStep(uint64_t step) {
  const size_t first =
      stepCount ? steps[stepCount - 1].first_event + steps[stepCount - 1].events : 0;
  eventCount = first;
  steps[stepCount] = {step, now(), 0, first, 0};
}

void Recorder::endStep() {
  zero_rt_recorded_step &step = steps[stepCount++];
  step.end = now();
  step.events = eventCount - step.first_event;
}

zero_rt_recording Recorder::recording() const {
  return {steps.data(), stepCount, events.data(), isFull()};
}

} // namespace zero::rt
