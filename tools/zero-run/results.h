//===- results.h - what a run measured --------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_RESULTS_H
#define TOOLS_ZERO_RUN_RESULTS_H

#include "zero_rt/zero_rt.h"

#include <vector>

namespace zero::run {

/// The mean loss over held-out batches, after `step` steps.
struct Evaluation {
  uint64_t step;
  double loss;
  uint64_t batches;
  double seconds;
};

struct Results {
  std::vector<zero_rt_step_result> steps;
  std::vector<Evaluation> evaluations;
  bool interrupted = false; ///< by a signal, before the last step
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_RESULTS_H
