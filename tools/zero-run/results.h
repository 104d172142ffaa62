//===- results.h - what a run measured --------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_RESULTS_H
#define TOOLS_ZERO_RUN_RESULTS_H

#include "zero_rt/zero_rt.h"

#include <vector>

namespace zero::run {

struct Results {
  std::vector<zero_rt_step_result> steps;
  bool interrupted = false; ///< by a signal, before the last step
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_RESULTS_H
