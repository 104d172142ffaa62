//===- lanes.h - the threads of a rank's lanes ------------------*- C++ -*-===//
// On CPUs each lane has a thread if a program has transfers; the compute lane runs on the rank's
// own thread. A lane executes its commands in order, each after the commands of other lanes that it
// waits for; all lanes synchronize at the end of an iteration. Counters say how far each lane is.
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
  bool evaluates = false;
  const StepObservers *observers = nullptr; ///< of the rank
};

/// The objects that the lanes of one rank work on.
struct LaneSetup {
  Communicator *communicator = nullptr;
  const std::vector<CommandSegment> *segments = nullptr;
  std::vector<const uint8_t *> predicates;
  Device *device = nullptr;
  RankMemory *memory = nullptr;
  double timeoutSeconds = 0;
  /// The owner of all these objects. A thread whose command never returns keeps it alive.
  std::weak_ptr<const void> owner;
};

/// Used by the rank's own thread. A lane that fails stops all of them.
class Lanes {
public:
  /// Starts a thread for each lane of `plan` except the first. Each thread creates its own state.
  static Status create(LanePlan plan, LaneSetup setup, std::unique_ptr<Lanes> &lanes);
  ~Lanes();

  /// Starts the other lanes: all that their commands need from before the iteration is available.
  void beginIteration(const LaneIteration &iteration);
  /// The commands of the rank's own thread in the iteration: each between await() and advance().
  const std::vector<LaneStep> &ownSteps() const;
  /// Waits for the waits of `step`. Fails with the error of a lane, or if no lane makes progress
  /// for the timeout of the session.
  Status await(const LaneStep &step);
  void advance();
  /// Waits for all lanes. Fails as await() does.
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
  Status outcome(Progress::Outcome outcome, size_t thread);
  Status awaitCounter(size_t counter, uint64_t count, size_t thread);

  std::shared_ptr<Shared> shared;
  std::vector<std::thread> threads;
  bool gaveUp = false;
  std::chrono::nanoseconds stalled{0}; ///< this thread, for others
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_LANES_H
