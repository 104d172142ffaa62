//===- rank.h - one rank of a session ---------------------------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_RANK_H
#define RUNTIME_EXECUTE_RANK_H

#include "runtime/execute/executor.h"
#include "runtime/execute/memory_check.h"
#include "runtime/execute/nan_search.h"
#include "runtime/execute/state.h"
#include "runtime/execute/step_recording.h"
#include "runtime/execute/vote.h"

#include <deque>

namespace zero::rt {

/// The arguments of the construction of all ranks.
struct RankOptions {
  bool checkMemory = false;
  bool hasIdleCores = false; ///< besides those of the threads of all ranks
  int initialThreads = 1;    ///< of each rank, while initial values are drawn
  bool graphs = true;        ///< where the device makes them
  double timeoutSeconds = 0;
  std::weak_ptr<const void> owner; ///< of the rank, and of the objects it uses
  Meter *meter = nullptr;          ///< progress of the preparation; lives as long as `owner`
};

/// One rank: its arenas, its commands, its end of the group. Used by its own thread
/// while a job runs, by the session's caller in between.
class Rank {
public:
  Rank(std::shared_ptr<const LoadedProgram> program, std::unique_ptr<Communicator> communicator,
       const DiskOptions &disk);

  /// Makes the rank's file, if it has one: see RankMemory.
  Status openFiles() { return memory.openFiles(*program, communicator->rank()); }
  /// Reserves and touches the arenas, reads initial values, resolves commands, starts lanes.
  Status prepare(Device &device, const InitialFiles &files, const RankOptions &options);

  /// Whether any rank gives `mine`. Between steps; all take part.
  Status any(Device &device, bool mine, bool &result);
  /// destination[slice of member i * elements ...] = source of member i, as of Communicator.
  /// Between steps; all take part.
  Status gather(const Call &call, DType dtype, const void *source, void *destination,
                uint64_t elements);
  /// Runs one step. A failure is sent to the other ranks before it is returned.
  Status step(const StepRequest &request);
  /// Waits until nothing runs any more, in a step that failed too.
  void settle();
  /// Leaves the group. Only the memory is left.
  void leave();
  /// Ends the waits of this rank with `reason`. From any thread.
  void abort(const Status &reason) { communicator->abort(reason); }
  /// The collective that it has begun last; empty: none.
  std::string lastCollective() const { return communicator->lastBegun(); }
  /// Collectives that it has begun so far. From any thread.
  uint64_t collectives() const { return communicator->begunSoFar(); }

  /// Lets the following steps fail at the first NaN, see NanSearch.
  void findNan();
  /// Records the next `steps` steps and discards the previous recording; 0: records none.
  void record(uint64_t steps, Recorder::Clock::time_point origin);
  zero_rt_recording recording() const;

  /// Between steps: what its graphs were made of has changed. All ranks take part.
  void dropGraphs();

  int number() const { return communicator->rank(); }
  RankMemory &getMemory() { return memory; }
  /// The results of the last step or evaluation, valid after prepare() like those of the executor.
  const StepData &results() const { return *shapes[current]->data; }
  const Executor &getExecutor() const { return *shapes[current]->executor; }
  /// The use of lanes in all steps.
  LaneUse laneUse() const;
  Traffic traffic() const { return communicator->traffic(); }
  /// As of Communicator.
  const std::map<AxisSet, uint64_t> &volumes() const { return communicator->volumes(); }
  /// What --check-memory has measured of `tier` in the steps of all shapes; 0 without it.
  uint64_t measuredPeak(proto::Tier tier) const;
  uint64_t measuredLive(proto::Tier tier) const;

private:
  /// What the steps of one shape run with.
  struct ShapeSteps {
    std::unique_ptr<Queue> queue;
    std::optional<StepData> data;
    std::optional<MemoryCheck> check;
    std::optional<NanSearch> search;
    std::optional<StepRecording> recording;
    std::optional<Executor> executor; ///< goes first: its threads use all of the above
  };

  Status openShape(size_t shape, Device &device, const RankOptions &options);
  void stopRecording();

  std::shared_ptr<const LoadedProgram> program;
  /// By shape. Goes last: memory is freed when a GPU does nothing more.
  std::deque<DeferredChecks> checks;
  RankMemory memory; ///< goes after the communicator: NCCL may use it until that has ended
  std::unique_ptr<Communicator> communicator;
  Vote vote;
  std::vector<std::unique_ptr<ShapeSteps>> shapes;
  size_t current = 0;               ///< the shape whose constants are in memory
  std::optional<Recorder> recorder; ///< of steps of all shapes
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_RANK_H
