//===- best.h - the checkpoint with the best evaluation ---------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_BEST_H
#define TOOLS_ZERO_RUN_BEST_H

#include "checkpoints.h"

namespace zero::run {

/// Keeps a checkpoint of the steps after which held-out data had its least loss, with --keep-best,
/// in the folder `best` of --save-state. A file beside it has that loss, so that a run that is
/// resumed replaces it only by a better one.
class BestCheckpoint {
public:
  BestCheckpoint(const Options &options, const Job &job, Checkpoints &checkpoints)
      : options(options), job(job), checkpoints(checkpoints) {}

  /// Reads the loss that the folder has. Collective.
  rt::Status open(const Session &session);
  /// Whether the loss of `result` is less than that of all before. One that is not finite never is.
  bool isBetter(const Evaluation &result) const;
  /// Saves the state after the steps of `result` if it is better.
  rt::Status add(const Session &session, const Evaluation &result);
  /// "the best evaluation had a loss of 1.2345 after 40 steps: --resume=run/best"; empty: there is
  /// none.
  std::string text() const;

private:
  std::string folder() const { return options.saveState + "/best"; }
  std::string lossFile() const { return folder() + "/loss"; }

  const Options &options;
  const Job &job;
  Checkpoints &checkpoints;
  /// Steps before it and its loss.
  std::optional<std::pair<uint64_t, double>> best;
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_BEST_H
