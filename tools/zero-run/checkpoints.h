//===- checkpoints.h - resume from checkpoints ------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_CHECKPOINTS_H
#define TOOLS_ZERO_RUN_CHECKPOINTS_H

#include "job.h"
#include "results.h"
#include "runtime/checkpoint/folder_lock.h"

namespace zero::run {

/// Saves the state of a run from time to time, and goes on from one that was saved.
class Checkpoints {
public:
  Checkpoints(const Options &options, const Job &job) : options(options), job(job) {}

  /// Keeps other runs from saving to --save-state, and finds out whether it can be written and
  /// holds no later steps than a run from the beginning comes to: those would be taken for newer.
  rt::Status open();
  /// Goes on from --resume, if there is anything to go on from. The session has its data.
  rt::Status resume(const Session &session, zero_rt_state_result &from);

  /// Whether to save after so many steps, that are not the last.
  bool isDue(uint64_t steps) const { return options.saveEvery && steps % *options.saveEvery == 0; }
  /// Whether it is saved, or copied to be, or nothing is to be saved.
  bool isSaved(uint64_t steps) const { return options.saveState.empty() || saved == steps; }
  /// Saves the state after `steps` steps. `beside`: returns when it is copied.
  rt::Status save(const Session &session, uint64_t steps, bool beside);
  /// Saves the state in another folder, and waits for it.
  rt::Status saveIn(const Session &session, const std::string &folder);
  /// Waits until what was copied is written.
  rt::Status finish(const Session &session);
  const Saves &getSaves() const { return saves; }
  /// Prints what the session has to say since the last time.
  void printRemarks(const Session &session) const;

private:
  bool resumesWhereItSaves() const;

  const Options &options;
  const Job &job;
  std::shared_ptr<rt::FolderLock> lock; ///< of --save-state
  Saves saves;
  std::optional<uint64_t> saved; ///< steps of the newest checkpoint in --save-state
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_CHECKPOINTS_H
