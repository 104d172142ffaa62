//===- recorder.h - when each command of a rank ran -------------*- C++ -*-===//
//
// In memory that is reserved and touched beforehand, so that a recorded step allocates
// nothing either.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CORE_RECORDER_H
#define RUNTIME_CORE_RECORDER_H

#include "zero_rt/zero_rt.h"

#include <chrono>
#include <vector>

namespace zero::rt {

/// What one rank did in its next `steps` steps. Times are nanoseconds since `origin`, which
/// all ranks share.
class Recorder {
public:
  using Clock = std::chrono::steady_clock;

  /// Room for `eventsPerStep` in each of them; more must not be added.
  Recorder(uint64_t steps, uint64_t eventsPerStep, Clock::time_point origin);

  /// Whether all the steps there is room for are recorded.
  bool isFull() const { return stepCount == steps.size(); }
  uint64_t now() const { return uint64_t(std::chrono::nanoseconds(Clock::now() - origin).count()); }

  /// A step begins; must not be full. What a step that was not ended has left is dropped.
  void beginStep(uint64_t step);
  void add(const zero_rt_event &event) { events[eventCount++] = event; }
  void endStep();

  /// What there is so far; the pointers stay valid as long as the recorder.
  zero_rt_recording recording() const;

private:
  std::vector<zero_rt_recorded_step> steps;
  std::vector<zero_rt_event> events;
  size_t stepCount = 0, eventCount = 0;
  Clock::time_point origin;
};

} // namespace zero::rt

#endif // RUNTIME_CORE_RECORDER_H
