//===- step_recording.h - an observer that records steps --------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_STEP_RECORDING_H
#define RUNTIME_EXECUTE_STEP_RECORDING_H

#include "runtime/execute/recorder.h"
#include "runtime/execute/step_observer.h"

namespace zero::rt {

/// Looks at the clock before and behind each command of a rank, until its recorder is full. A
/// device that has a clock notes when it comes to a command and when it is done. Without one, this
/// waits until a command is through before the next begins, but for those of lanes that have
/// threads. Only training steps are recorded. Programs for several shapes have a recording each,
/// and share the recorder.
class StepRecording : public StepObserver {
public:
  /// What it refers to must outlive it. `commands`: of the rank's thread in a step, at most.
  /// `firstCommand`: the index of the program's first command among those of all shapes.
  StepRecording(Recorder &recorder, Queue &queue, const Communicator &communicator,
                uint64_t commands, uint32_t firstCommand);

  bool begin(uint64_t step, Mode mode) override;
  Status beforeCommand(const CommandRun &run) override;
  Status after() override;
  void endStep() override;
  void ranOnLane(size_t thread, const CommandRun &run, const LaneWork::Span &span) override;

private:
  /// The notes of a command: when it begins and ends. Note 0 is the step's beginning.
  static size_t beginOf(size_t command) { return 1 + 2 * command; }
  static size_t endOf(size_t command) { return 2 + 2 * command; }
  uint64_t waited() const { return collects ? communicator.waited() : 0; }

  Recorder &recorder;
  Queue &queue;
  const Communicator &communicator;
  const uint32_t firstCommand;
  zero_rt_event event{};            ///< of the command that runs
  bool runs = false;                ///< whether one does
  bool collects = false;            ///< whether it waits for other ranks
  bool notes = false;               ///< whether the device notes times
  uint64_t began = 0;               ///< when note 0 was given
  std::vector<zero_rt_event> noted; ///< events of this step whose times the device knows
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_STEP_RECORDING_H
