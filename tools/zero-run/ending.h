//===- ending.h - when a run ends before its last step ----------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_ENDING_H
#define TOOLS_ZERO_RUN_ENDING_H

#include "job.h"
#include "results.h"

#include <chrono>

namespace zero::run {

/// Ends a run after a signal, before --max-time is over, and after --patience evaluations without a
/// better loss. Time does not end it before its first step.
class EarlyEnd {
public:
  EarlyEnd(const Options &options, const Job &job) : options(options), job(job) {}

  /// Seconds that saving may take at the end.
  void setSaving(double seconds) { saving = seconds; }
  void addStep(double seconds) { longest = std::max(longest, seconds); }
  void addEvaluation(const Evaluation &result);

  /// Whether to end instead of another step. Collective.
  rt::Status shallStop(const Session &session, bool &stops);
  /// Why shallStop() has said so.
  Ending why() const;
  /// "no better evaluation loss since 1.2345 after step 20", for Patience.
  std::string patienceText() const;

private:
  bool isOutOfTime() const;
  bool isOutOfPatience() const { return options.patience && worse >= *options.patience; }

  const Options &options;
  const Job &job;
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  double longest = 0, saving = 0; ///< seconds
  std::optional<Evaluation> best;
  uint64_t worse = 0;     ///< evaluations since
  bool hasSignal = false; ///< of any process
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_ENDING_H
