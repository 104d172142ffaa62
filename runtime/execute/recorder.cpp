//===- recorder.cpp - record the times of commands ------------------------===//

#include "runtime/execute/recorder.h"

#include <algorithm>

namespace zero::rt {

Recorder::Recorder(uint64_t steps, const std::vector<uint64_t> &eventsPerStep,
                   Clock::time_point origin)
    : steps(steps), origin(origin) {
  size_t room = 0;
  for (uint64_t most : eventsPerStep) {
    parts.push_back({room});
    room += most;
  }
  events.resize(steps * room);
}

void Recorder::beginStep(uint64_t step) {
  first = stepCount ? steps[stepCount - 1].first_event + steps[stepCount - 1].events : 0;
  for (Part &part : parts)
    part.count = 0;
  steps[stepCount] = {step, now(), 0, first, 0};
}

void Recorder::endStep() {
  zero_rt_recorded_step &step = steps[stepCount++];
  step.end = now();
  const auto begin = events.begin() + ptrdiff_t(first);
  auto end = begin;
  for (const Part &part : parts) // moves to the front, if at all
    end = std::copy_n(begin + ptrdiff_t(part.offset), part.count, end);
  step.events = size_t(end - begin);
  std::sort(begin, end, [](const zero_rt_event &left, const zero_rt_event &right) {
    return left.begin != right.begin ? left.begin < right.begin : left.command < right.command;
  });
}

zero_rt_recording Recorder::recording() const {
  return {steps.data(), stepCount, events.data(), isFull()};
}

} // namespace zero::rt
