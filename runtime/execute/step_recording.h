//===- step_recording.h - an observer that records steps --------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_STEP_RECORDING_H
#define RUNTIME_EXECUTE_STEP_RECORDING_H

#include "runtime/execute/recorder.h"
#include "runtime/execute/step_observer.h"

namespace zero::rt {

/// Looks at the clock before and behind each command of a rank, until its recorder is full.
/// Waits until a command is through before the next begins, but for those of lanes that have
/// threads. Evaluations are not recorded.
class StepRecording : public StepObserver {
public:
  /// `queue` and `communicator` must outlive it.
  StepRecording(Recorder recorder, Queue &queue, const Communicator &communicator)
      : recorder(std::move(recorder)), queue(queue), communicator(communicator) {}

  zero_rt_recording recording() const { return recorder.recording(); }

  bool begin(uint64_t step, bool evaluates) override;
  Status beforeCommand(const CommandRun &run) override;
  Status after() override;
  void endStep() override { recorder.endStep(); }
  void ranOnLane(size_t thread, const CommandRun &run, const LaneWork::Span &span) override;

private:
  uint64_t waited() const { return collects ? communicator.waited() : 0; }

  Recorder recorder;
  Queue &queue;
  const Communicator &communicator;
  zero_rt_event event{}; ///< of the command that runs
  bool runs = false;     ///< whether one does
  bool collects = false; ///< whether it waits for other ranks
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_STEP_RECORDING_H
