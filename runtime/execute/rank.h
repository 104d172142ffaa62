//===- rank.h - one rank of a session ---------------------------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_RANK_H
#define RUNTIME_EXECUTE_RANK_H

#include "runtime/comm/communicator.h"
#include "runtime/execute/lanes.h"
#include "runtime/execute/memory_check.h"
#include "runtime/execute/note.h"
#include "runtime/execute/recorder.h"
#include "runtime/execute/state.h"
#include "runtime/execute/windows.h"
#include "runtime/io/data_set.h"

#include <optional>

namespace zero::rt {

/// What all ranks are told about a step.
struct StepRequest {
  uint64_t step = 0;
  uint64_t batch = 0; ///< of the data
  float learningRate = 0;
  bool allowNan = false;
  /// Runs what the loss depends on and nothing else; state stays as it is.
  bool evaluate = false;
  std::shared_ptr<const DataSet> data; ///< its inputs are those of kind DATA, in order
  /// Where to copy this rank's parts of the gradients, by index of Program.gradients;
  /// nullptr: nowhere.
  std::vector<std::vector<uint8_t>> *gradients = nullptr;
};

/// What all ranks are told when they are made.
struct RankOptions {
  bool checkMemory = false;
  double timeoutSeconds = 0;
  std::weak_ptr<const void> owner; ///< of the rank, and of what it uses
  Meter *meter = nullptr;          ///< of what getting ready takes; lives as long as `owner`
};

/// One rank: its arenas, its commands, its end of the group. Used by its own thread
/// while a job runs, by the session's caller in between.
class Rank {
public:
  Rank(std::shared_ptr<const LoadedProgram> program, std::unique_ptr<Communicator> communicator,
       const DiskOptions &disk);

  /// Makes the rank's file, if it has one: see RankMemory.
  Status openFile() { return memory.openFile(*program, communicator->rank()); }
  /// Reserves and touches the arenas, reads initial values, resolves commands, starts lanes.
  Status prepare(Device &device, const InitialFiles &files, const RankOptions &options);

  /// Tells all ranks `own` and hears what they tell, by rank. Between steps; all take part.
  Status exchange(Device &device, const Note &own, std::vector<Note> &all);

  int number() const { return communicator->rank(); }

  /// Runs one step. A failure is told to the other ranks before it is returned.
  Status step(const StepRequest &request);

  /// Records the next `steps` steps in place of what was recorded before; 0: none.
  void record(uint64_t steps, Recorder::Clock::time_point origin);
  zero_rt_recording recording() const {
    return recorder ? recorder->recording() : zero_rt_recording{};
  }

  MemoryByTier memoryByTier() { return memory.byTier(); }
  const RankMemory &ownMemory() const { return memory; }
  /// Of its lanes but the own thread's, in the last step and in all.
  const LaneUse &lastUse() const { return lastStep; }
  const LaneUse &use() const { return allSteps; }
  /// Waits until nothing runs any more, in a step that failed too.
  void settle();
  Traffic traffic() const { return communicator->traffic(); }
  /// What --check-memory has seen, or nullptr.
  const MemoryCheck *memoryCheck() const { return check ? &*check : nullptr; }
  /// Output `index` of the last step.
  const std::vector<uint8_t> &output(int index) const { return outputs[index]; }
  /// A scalar output of the last step as a double; nothing if there is none of the name.
  std::optional<double> scalar(const char *name) const;

private:
  Status runStep(const StepRequest &request);
  Status runSegments(const StepRequest &request);
  LaneUse useSoFar() const;
  Status tell(Device &device, const Note &own, std::vector<Note> &all);
  Status run(const Command &command);
  Status runRecorded(const Command &command, uint32_t index, uint64_t turn);
  Status runSegment(const CommandSegment &segment, const StepRequest &request, bool isFirst);
  Status openLanes(Device &device, const RankOptions &options);
  Status runTurn(const CommandSegment &segment, uint64_t turn, const StepRequest &request);
  Status visit(const Command &command, const CommandSegment &segment, uint64_t turn,
               const StepRequest &request);
  Status runUnlessSkipped(const Command &command, const CommandSegment &segment, uint64_t turn);
  Status holds(const Command &command, bool &result);
  Status finishMicroBatches(const StepRequest &request);
  Status pullOutputs(bool all);
  Status checkLoss() const;
  Status bindInputs(const StepRequest &request, uint64_t microBatch,
                    const std::vector<bool> *which);
  Status writeInputs(const StepRequest &request, uint64_t microBatch,
                     const std::vector<bool> *which);
  void writeScalar(proto::Input::Kind kind, const StepRequest &request, uint64_t microBatch,
                   char *target) const;
  Status captureOutputs();
  Status captureGradients(std::vector<std::vector<uint8_t>> &gradients);

  Status execute(const LaunchCommand &launch, const Command &command);
  Status execute(const CollectiveCommand &collective, const Command &command);
  Status execute(const CheckCommand &check, const Command &command);
  Status execute(const CopyCommand &copy, const Command &command);
  Status execute(const DiskCommand &disk, const Command &command);

  const proto::Program &tables() const { return program->tables(); }

  std::shared_ptr<const LoadedProgram> program;
  std::unique_ptr<Communicator> communicator;
  RankMemory memory;
  std::unique_ptr<Arena> notes; ///< of all ranks, once there was an exchange
  std::unique_ptr<Queue> queue;
  std::vector<CommandSegment> segments;
  StepWindows windows;
  std::vector<bool> known; ///< by predicate: whether its window holds it
  std::vector<std::vector<uint8_t>> outputs;
  std::unique_ptr<Lanes> lanes; ///< null: this thread runs all commands
  /// By lane: does those of lanes that have no thread, as in a step that is watched.
  std::array<std::unique_ptr<LaneWork>, proto::Lane_ARRAYSIZE> laneWork;
  std::optional<MemoryCheck> check;
  std::optional<Recorder> recorder;
  Recorder *active = nullptr; ///< what records this step
  uint64_t collectives = 0;   ///< begun in this step
  /// Whether commands that an evaluation runs write to the file, and whether others do.
  bool evaluationWrites = false, stepWrites = false;
  LaneUse lastStep, allSteps;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_RANK_H
