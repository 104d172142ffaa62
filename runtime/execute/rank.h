//===- rank.h - one rank of a session ---------------------------*- C++ -*-===//

#ifndef RUNTIME_EXECUTE_RANK_H
#define RUNTIME_EXECUTE_RANK_H

#include "runtime/execute/exchange.h"
#include "runtime/execute/executor.h"
#include "runtime/execute/memory_check.h"
#include "runtime/execute/state.h"
#include "runtime/execute/step_recording.h"

namespace zero::rt {

/// The arguments of the construction of all ranks.
struct RankOptions {
  bool checkMemory = false;
  bool hasIdleCores = false; ///< besides those of the threads of all ranks
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
  Status openFile() { return memory.openFile(*program, communicator->rank()); }
  /// Reserves and touches the arenas, reads initial values, resolves commands, starts lanes.
  Status prepare(Device &device, const InitialFiles &files, const RankOptions &options);

  /// Sends `own` to all ranks and returns the messages of all, by rank. Between steps; all take
  /// part.
  Status exchange(Device &device, const Note &own, std::vector<Note> &all);
  /// Runs one step. A failure is sent to the other ranks before it is returned.
  Status step(const StepRequest &request);
  /// Waits until nothing runs any more, in a step that failed too.
  void settle();

  /// Records the next `steps` steps and discards the previous recording; 0: records none.
  void record(uint64_t steps, Recorder::Clock::time_point origin);
  zero_rt_recording recording() const;

  int number() const { return communicator->rank(); }
  RankMemory &getMemory() { return memory; }
  /// The results of steps, valid after prepare() like those of the executor.
  const StepData &results() const { return *data; }
  const Executor &getExecutor() const { return *executor; }
  Traffic traffic() const { return communicator->traffic(); }
  /// The results of --check-memory, or nullptr.
  const MemoryCheck *memoryCheck() const { return check ? &*check : nullptr; }

private:
  std::shared_ptr<const LoadedProgram> program;
  std::unique_ptr<Communicator> communicator;
  RankMemory memory;
  Exchange notes;
  std::unique_ptr<Queue> queue;
  std::optional<StepData> data;
  std::optional<MemoryCheck> check;
  std::optional<StepRecording> recorded;
  std::optional<Executor> executor; ///< goes first: its threads use all of the above
};

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_RANK_H
