//===- page.h - a run as a web page -----------------------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_PAGE_H
#define TOOLS_ZERO_RUN_PAGE_H

#include "curves.h"
#include "handles.h"
#include "results.h"
#include "runtime/support/background.h"
#include "warnings.h"

#include <chrono>

namespace zero::run {

/// The page of --page, which is written again at intervals, beside the steps, and which a browser
/// loads again. The file is complete at any moment.
class RunPage {
public:
  /// Writes the page of a run before its first step, so that a path that cannot be written costs
  /// none.
  rt::Status open(const std::string &path, const Executable &executable);
  bool isOpen() const { return !path.empty(); }
  /// What the run is about to do. A run that goes on from step `first` keeps the curves of the page
  /// that was there up to this step.
  void begin(const ProcessMemory &planned, uint64_t first, uint64_t steps);
  void addStep(const zero_rt_step_result &result, const Curves::Values &values);
  void addEvaluation(const Evaluation &result);
  /// The last page, once the steps are done or have failed.
  rt::Status finish(const Results &results, const rt::Status &status);

private:
  /// All that a page says.
  struct Content {
    const Executable *executable = nullptr;
    Curves curves;
    std::vector<std::pair<uint64_t, double>> evaluations; ///< steps done, and loss
    ProcessMemory planned;
    uint64_t first = 0, done = 0, steps = 0;
    double seconds = 0;                ///< of the steps of this run
    std::string ending, error, resume; ///< all empty while the run goes on
    std::vector<Warning> warnings;

    std::string json() const;
    void read(const std::string &page);
    rt::Status writeTo(const std::string &path) const;
  };
  void write();

  std::string path, former; ///< the second: data of the page that was there
  Content content;
  std::chrono::steady_clock::time_point written;
  rt::Background background;
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_PAGE_H
