//===- progress.h - progress lines of a run ---------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_PROGRESS_H
#define TOOLS_ZERO_RUN_PROGRESS_H

#include "figures.h"
#include "handles.h"
#include "options.h"
#include "results.h"

#include <optional>
#include <string>

namespace zero::run {

/// "12.3 MiB".
std::string bytesText(uint64_t bytes);

/// Prints memory by role, as planned.
void printPlan(const Executable &executable, bool quiet);

/// A bar on a terminal, lines otherwise, nothing when quiet; or lines of JSON.
class Progress {
public:
  Progress(const Executable &executable, const Data &data, uint64_t steps, const Options &options);

  /// How the samples divide into steps and epochs.
  void printData(std::optional<uint64_t> shuffleSeed) const;
  /// What an evaluation reads each time.
  void printEvalData(const Data &data, uint64_t samples) const;
  /// Before step `first`; a resumed run goes up to this many steps in all.
  void begin(uint64_t first, uint64_t all);
  void step(const zero_rt_step_result &result);
  /// What steps read, and how many of them in a second: {"tokens", 1200}.
  std::pair<std::string, double> perSecond(double seconds) const;
  /// A line between those of steps, unless it is empty.
  void note(const std::string &text) const;
  void evaluation(const Evaluation &result) const;
  /// The line that ends the run.
  void finish(const Results &results) const;

private:
  std::string rate(double seconds) const;
  double secondsLeft(uint64_t done) const;
  std::string timeLeft(uint64_t done) const;
  void sayWhyEarly(const Results &run) const;
  void warnOfSkips(const std::vector<zero_rt_step_result> &results) const;
  bool trains() const { return zero::run::trains(info); }
  bool isDue(uint64_t step) const;

  const Executable &executable;
  zero_rt_program_info info;
  zero_rt_data_info samples;
  Figures figures;
  uint64_t steps;
  bool quiet, terminal;
  bool printsJson; ///< lines of JSON instead of text
  uint64_t unitsPerStep = 0;
  const char *unit = "samples";
  std::string memory; ///< of each rank
  double seconds = 0; ///< of the steps so far
  uint64_t counted = 0;
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_PROGRESS_H
