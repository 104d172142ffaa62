//===- results.h - what a run measured --------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_RESULTS_H
#define TOOLS_ZERO_RUN_RESULTS_H

#include "tools/profiling/profile.h"

#include <optional>

namespace zero::run {

/// The mean loss over held-out batches, after `step` steps.
struct Evaluation {
  uint64_t step;
  double loss;
  uint64_t batches;
  double seconds;
};

struct Results {
  uint64_t first = 0; ///< step, after those of the checkpoint
  std::vector<zero_rt_step_result> steps;
  std::vector<Evaluation> evaluations;
  std::optional<Profile> profile;
  /// Bytes that rank 0 moved from and to its disk in the last step.
  uint64_t nvmeRead = 0, nvmeWritten = 0;
  zero_rt_stats stats{};    ///< of rank 0, or of the process's own
  bool interrupted = false; ///< by a signal, before the last step

  /// Steps done, those of the checkpoint included.
  uint64_t done() const { return first + steps.size(); }
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_RESULTS_H
