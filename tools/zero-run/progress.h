//===- progress.h - what a person sees of a run -----------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_PROGRESS_H
#define TOOLS_ZERO_RUN_PROGRESS_H

#include "handles.h"

#include <vector>

namespace zero::run {

/// "12.3 MiB".
std::string bytesText(uint64_t bytes);

/// A bar on a terminal, lines otherwise, nothing when quiet.
class Progress {
public:
  Progress(const Executable &executable, uint64_t steps, bool quiet);

  /// Memory by role, as planned.
  void printPlan() const;
  void step(const zero_rt_step_result &result);
  /// The line that ends the run.
  void finish(const std::vector<zero_rt_step_result> &results) const;

private:
  std::string rate(double seconds) const;
  /// Whether the program has an optimizer rather than being forward only.
  bool trains() const { return *info.optimizer; }
  bool isDue(uint64_t step) const;

  const Executable &executable;
  zero_rt_program_info info;
  uint64_t steps;
  bool quiet, terminal;
  uint64_t unitsPerStep = 0;
  const char *unit = "samples";
  uint64_t bytesPerRank = 0;
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_PROGRESS_H
