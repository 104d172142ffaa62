//===- lanes.h - the threads of a rank's lanes ------------------*- C++ -*-===//
// On CPUs each lane has a thread if a program has transfers; the compute lane runs on the rank's
// own thread. On GPUs the lanes of disks and of computations of the host have threads, and the
// rank's own thread gives the others to streams. A lane executes its commands in order, each after
// the commands of other lanes that it waits for; all lanes synchronize at the end of an iteration.
// Counters say how far each lane is. Streams never wait for threads: a command that waits for a
// lane with a thread is given to its stream when that lane is so far. Threads ask for events.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTE_LANES_H
#define RUNTIME_EXECUTE_LANES_H

#include "runtime/execute/lane_plan.h"
#include "runtime/execute/lane_work.h"
#include "runtime/execute/progress.h"
#include "runtime/execute/step_observer.h"

#include <thread>

namespace zero::rt {

/// An iteration of a segment.
struct LaneIteration {
  size_t segment = 0;
  uint64_t number = 0;
  Mode mode = Mode::Step;
  const StepObservers *observers = nullptr; ///< of the rank
};

/// The objects that the lanes of one rank work on.
struct LaneSetup {
  Communicator *communicator = nullptr;
  const std::vector<CommandSegment> *segments = nullptr;
  std::vector<const uint8_t *> predicates;
  Device *device = nullptr;
  RankMemory *memory = nullptr;
  Queue *queue = nullptr; ///< of a device with lanes; nullptr: commands are done when they return
  uint32_t start = 0;     ///< its signal: earlier iterations are over
  double timeoutSeconds = 0;
  /// The owner of all these objects. A thread whose command never returns keeps it alive.
  std::weak_ptr<const void> owner;
};

/// Used by the rank's own thread. A lane that fails stops all of them.
class Lanes {
public:
  /// Starts the threads of `plan`. Each creates its own state.
  static Status create(LanePlan plan, LaneSetup setup, std::unique_ptr<Lanes> &lanes);
  ~Lanes();

  /// Starts the other lanes: all that their commands need from before the iteration is available.
  void beginIteration(const LaneIteration &iteration);
  /// The next command of the rank's own thread, which may begin; nullptr: there is none left.
  /// Waits for the lanes that it depends on. Fails with the error of a lane, or if no lane makes
  /// progress for the timeout of the session.
  Status next(const LaneStep *&step);
  /// The command of the last next() is done, or given to the device.
  void advance();
  /// Waits for all lanes. Fails as next() does.
  Status endIteration();

  /// After a failure, here or there: no lane begins another command. Waits for those that
  /// run, unless they have been waited for in vain.
  void settle();
  /// Commands of each thread in a step, if it skips none.
  std::vector<uint64_t> eventsPerStep() const;
  /// Since the start of the session. Called between iterations.
  LaneUse use() const;

private:
  struct Shared;
  explicit Lanes(std::shared_ptr<Shared> shared) : shared(std::move(shared)) {}
  const LaneStep *peek(size_t sequence) const;
  void collectThresholds();
  Status outcome(Progress::Outcome outcome, size_t sequence);
  Status awaitAny();

  std::shared_ptr<Shared> shared;
  std::vector<std::thread> threads;
  std::vector<size_t> positions;               ///< by own sequence: its next step
  size_t current = 0;                          ///< sequence of the last next()
  std::vector<Progress::Threshold> thresholds; ///< that this thread waits for
  bool gaveUp = false;
  std::chrono::nanoseconds stalled{0}; ///< this thread, for others
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_LANES_H
