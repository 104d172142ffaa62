//===- checkpoints.h - states to go on from ---------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_CHECKPOINTS_H
#define TOOLS_ZERO_RUN_CHECKPOINTS_H

#include "handles.h"
#include "options.h"

namespace zero::run {

/// Saves the state of a run from time to time, and goes on from one that was saved.
class Checkpoints {
public:
  explicit Checkpoints(const Options &options) : options(options) {}

  /// Finds out whether --save-state can be written, and holds no later steps than a run
  /// that begins at `first` comes to: those would be taken for newer.
  rt::Status open() const;
  /// Goes on from --resume, if there is anything to go on from. The session has its data.
  rt::Status resume(const Session &session, zero_rt_state_result &from);

  /// Whether to save after so many steps, that are not the last.
  bool isDue(uint64_t steps) const { return options.saveEvery && steps % *options.saveEvery == 0; }
  /// Saves the state after `steps` steps, unless it is saved there already.
  rt::Status save(const Session &session, uint64_t steps);

private:
  bool resumesWhereItSaves() const;

  const Options &options;
  std::optional<uint64_t> saved; ///< steps of the newest checkpoint in --save-state
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_CHECKPOINTS_H
