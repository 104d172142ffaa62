//===- restarts.h - go on after a failure -----------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_RESTARTS_H
#define TOOLS_ZERO_RUN_RESTARTS_H

#include "children.h"
#include "job.h"

namespace zero::run {

/// Makes a run that was started again, after a failure, go on from what the earlier attempts have
/// saved. If they have saved nothing, it begins as they did.
rt::Status goOnFromSaved(Options &options, const Job &job);

/// Removes what killed processes have left: files that had not got their names.
void removeLeft(const Options &options);

/// The attempts of a run with --processes.
class Restarts {
public:
  Restarts(const Options &options, char **arguments);

  /// The attempt to make.
  const Start &next() const { return start; }
  /// Decides whether to make another attempt after one failed: some process could not be started
  /// (`started`), or `first` ended. Says what the new one goes on from.
  bool prepare(const rt::Status &started, const End &first);

private:
  uint64_t ranks() const { return uint64_t(start.processes) * ranksEach; }
  bool shrink();
  void announce(const std::string &why, uint64_t ranksBefore) const;

  const Options &options;
  Start start;
  uint64_t ranksEach = 1, microBatches = 1;
  std::string from; ///< the checkpoint with which the attempt began; empty: none
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_RESTARTS_H
