//===- executor.h - execute the commands of a rank --------------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_EXECUTOR_H
#define RUNTIME_EXECUTE_EXECUTOR_H

#include "runtime/execute/deferred_checks.h"
#include "runtime/execute/gradient_checks.h"
#include "runtime/execute/graph_cache.h"
#include "runtime/execute/lanes.h"
#include "runtime/execute/step_data.h"
#include "runtime/execute/vote.h"

#include <set>

namespace zero::rt {

struct ExecutorOptions {
  /// All commands on the rank's own thread, in the order of the file, as observers of memory
  /// need it.
  bool inOrder = false;
  bool hasIdleCores = false; ///< besides those of the threads of all ranks
  bool graphs = true;        ///< where the device makes them
  double timeoutSeconds = 0;
  std::weak_ptr<const void> owner; ///< of all that commands touch
};

/// Runs one rank's commands on the rank's thread. The objects that it refers to must outlive it.
class Executor {
public:
  Executor(const proto::Program &program, Communicator &communicator, RankMemory &memory,
           Queue &queue, StepData &data, DeferredChecks &checks, Vote &vote)
      : program(program), communicator(communicator), memory(memory), queue(queue), data(data),
        checks(checks), vote(vote) {}

  /// Gives commands their addresses and starts lanes. Once, after StepData::open().
  Status open(Device &device, const ExecutorOptions &options);
  /// Runs one step, an evaluation, or what finishes the step before.
  Status run(const StepRequest &request);
  /// After a step that failed: waits until lanes do nothing more.
  void settle();

  /// Between steps: the next ones make them again.
  void dropGraphs() { graphs.clear(); }

  /// The parameter for whose gradient the last step was skipped; empty if it was not, or if the
  /// rank does not know.
  const std::string &skippedFor() const { return gradientChecks.name(); }
  StepObservers &getObservers() { return observers; }
  /// Commands of each thread in a step, if it skips none.
  std::vector<uint64_t> eventsPerStep() const;
  /// The use of its lanes, except that of its own thread, in the last step and in all steps.
  const LaneUse &lastUse() const { return lastStep; }
  const LaneUse &use() const { return allSteps; }

private:
  Status openLanes(Device &device, const ExecutorOptions &options, uint32_t start);
  Status openDeviceLanes(Device &device, const ExecutorOptions &options);
  LaneUse useSoFar() const;
  Status runStep(const StepRequest &request);
  Status runSegments(const StepRequest &request);
  Status finishStep(const StepRequest &request);
  Status runSegment(const CommandSegment &segment, const StepRequest &request, bool isFirst);
  Status runIteration(const CommandSegment &segment, uint64_t iteration,
                      const StepRequest &request);
  Status visit(const Command &command, const CommandSegment &segment, uint64_t iteration,
               const StepRequest &request);
  Status runUnlessSkipped(const Command &command, const CommandSegment &segment,
                          uint64_t iteration);
  Status holds(const Command &command, bool &result);
  Status forget(uint32_t predicate);
  Status startLanes(const CommandSegment &segment, uint64_t iteration, const StepRequest &request);
  Status bindInputs(const StepRequest &request, uint64_t microBatch,
                    const std::vector<bool> *which);
  Status agreeOnChecks();
  Status checkGradients() const;
  Status finishMicroBatches(const StepRequest &request);

  bool usesGraphs() const;
  bool mayCapture(const Command &command) const;
  bool mayRun(const Command &command, const CommandSegment &segment, uint64_t iteration,
              const StepRequest &request) const;
  void cutStretch(const CommandSegment &segment, uint64_t iteration, const StepRequest &request);
  Status runInGraphs(const CommandSegment &segment, uint64_t iteration, const StepRequest &request);
  Status runStretch(const CommandSegment &segment, uint64_t iteration, const StepRequest &request);
  Status visitStretch(const CommandSegment &segment, uint64_t iteration,
                      const StepRequest &request);
  Status capture(KeptStretch &kept, const CommandSegment &segment, uint64_t iteration,
                 const StepRequest &request);
  void repeat(const KeptStretch &kept);

  Status run(const Command &command);
  Status execute(const LaunchCommand &launch, const Command &command);
  Status execute(const CollectiveCommand &collective, const Command &command);
  Status execute(const CheckCommand &check, const Command &command);
  Status execute(const CopyCommand &copy, const Command &command);
  Status execute(const DiskCommand &disk, const Command &command);

  const proto::Program &program;
  Communicator &communicator;
  RankMemory &memory;
  Queue &queue;
  StepData &data;
  DeferredChecks &checks;
  Vote &vote;
  Device *device = nullptr;
  StepObservers observers;
  std::vector<CommandSegment> segments;
  GradientChecks gradientChecks;
  std::vector<bool> known; ///< by predicate: whether its window holds it
  std::vector<bool> asked; ///< by predicate: whether lanes with threads depend on it
  /// Of a device with lanes beside `lanes`: given between iterations.
  Order start;
  std::unique_ptr<Lanes> lanes; ///< null: this thread runs all commands
  /// By lane: executes the commands of lanes without a thread, as under --check-memory.
  std::array<std::unique_ptr<LaneWork>, proto::Lane_ARRAYSIZE> laneWork;
  uint64_t collectives = 0; ///< begun in this step
  bool graphsAllowed = false;
  GraphCache graphs;
  Stretch stretch;           ///< that is run
  std::vector<bool> decided; ///< by predicate: whether it is known behind the commands so far
  std::set<Mode> writing;    ///< modes in which commands write to the file
  LaneUse lastStep, allSteps;
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_EXECUTOR_H
