//===- step_observer.h - observers of a rank's steps ------------*- C++ -*-===//
// The executor notifies observers before and after its actions. It does not depend on their purpose
// or number: a step without observers has no extra cost.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTE_STEP_OBSERVER_H
#define RUNTIME_EXECUTE_STEP_OBSERVER_H

#include "runtime/execute/lane_work.h"
#include "runtime/format/mode.h"

namespace zero::rt {

/// A command in its iteration.
struct CommandRun {
  const Command *command = nullptr;
  uint32_t index = 0; ///< among those of the program
  uint64_t iteration = 0;
  bool skipped = false; ///< because of its predicate or iteration
};

/// Receives the events of a step on the rank's thread, in this order. Each before...() is followed
/// by after(), unless something failed. An error ends the step.
class StepObserver {
public:
  virtual ~StepObserver() = default;

  /// A step or an evaluation starts. Returns whether the observer wants the other notifications.
  virtual bool begin(uint64_t step, Mode mode) = 0;
  /// Inputs are written.
  virtual Status beforeInputs() { return {}; }
  /// A command is executed or skipped. Commands that do not run in the mode are not reported.
  virtual Status beforeCommand(const CommandRun &) { return {}; }
  /// Gradients are copied out and the loss is read.
  virtual Status beforeFinish() { return {}; }
  /// The announced work is complete.
  virtual Status after() { return {}; }
  /// All commands are done; outputs have not been copied out.
  virtual Status atEnd() { return {}; }
  /// The step is over and has not failed.
  virtual void endStep() {}
  /// A command has run on thread `thread` of a lane. Called by that thread while the rank's thread
  /// continues.
  virtual void ranOnLane(size_t /*thread*/, const CommandRun &, const LaneWork::Span &) {}
};

/// The observers of one rank. The observer attached first is the outermost: it is notified first
/// before an action, and last after it.
class StepObservers {
public:
  /// Between steps; `observer` must be detached before it goes.
  void attach(StepObserver &observer);
  void detach(const StepObserver &observer);

  void begin(uint64_t step, Mode mode);
  /// Whether any observer wants to know of the commands of this step.
  bool isAnyWatching() const { return !watching.empty(); }
  Status beforeInputs() {
    return tell([](StepObserver &each) { return each.beforeInputs(); });
  }
  Status beforeCommand(const CommandRun &run) {
    return tell([&](StepObserver &each) { return each.beforeCommand(run); });
  }
  Status beforeFinish() {
    return tell([](StepObserver &each) { return each.beforeFinish(); });
  }
  Status after() {
    for (size_t i = watching.size(); i-- > 0;)
      ZERO_RT_TRY(watching[i]->after());
    return {};
  }
  Status atEnd() {
    return tell([](StepObserver &each) { return each.atEnd(); });
  }
  void endStep();
  void ranOnLane(size_t thread, const CommandRun &run, const LaneWork::Span &span) const {
    for (StepObserver *each : watching)
      each->ranOnLane(thread, run, span);
  }

private:
  template <typename Event>
  Status tell(Event event) {
    for (StepObserver *each : watching)
      ZERO_RT_TRY(event(*each));
    return {};
  }

  std::vector<StepObserver *> attached, watching; ///< all; those of this step
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_STEP_OBSERVER_H
