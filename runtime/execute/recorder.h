//===- recorder.h - record the times of commands ----------------*- C++ -*-===//
//
// In memory that is reserved and touched beforehand, so that a recorded step allocates
// nothing either.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTE_RECORDER_H
#define RUNTIME_EXECUTE_RECORDER_H

#include "zero_rt/zero_rt.h"

#include <chrono>
#include <vector>

namespace zero::rt {

/// The events of one rank in its next `steps` steps. Times are nanoseconds since `origin`, which
/// all ranks share.
class Recorder {
public:
  using Clock = std::chrono::steady_clock;

  /// Allocates `eventsPerStep` events of each thread in each step; more must not be added.
  Recorder(uint64_t steps, const std::vector<uint64_t> &eventsPerStep, Clock::time_point origin);

  /// Whether all requested steps are recorded.
  bool isFull() const { return stepCount == steps.size(); }
  uint64_t now() const { return at(Clock::now()); }
  uint64_t at(Clock::time_point time) const {
    return uint64_t(std::chrono::nanoseconds(time - origin).count());
  }

  /// A step begins; must not be full. What a step that was not ended has left is dropped.
  void beginStep(uint64_t step);
  /// Adds an event of thread `thread`. Other threads may add theirs concurrently.
  void add(const zero_rt_event &event, size_t thread = 0) {
    Part &part = parts[thread];
    events[first + part.offset + part.count++] = event;
  }
  /// All threads have added theirs: they are put in the order in which they began.
  void endStep();

  /// The current recording. Its pointers are valid as long as the recorder.
  zero_rt_recording recording() const;

private:
  std::vector<zero_rt_recorded_step> steps;
  /// The events of one thread in a step: written apart from each other.
  struct alignas(64) Part {
    size_t offset, count = 0;
  };
  std::vector<zero_rt_event> events;
  std::vector<Part> parts;
  size_t stepCount = 0;
  size_t first = 0; ///< event of the step
  Clock::time_point origin;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_RECORDER_H
