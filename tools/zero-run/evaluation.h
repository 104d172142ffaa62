//===- evaluation.h - the loss of held-out data -----------------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_EVALUATION_H
#define TOOLS_ZERO_RUN_EVALUATION_H

#include "job.h"
#include "results.h"

namespace zero::run {

/// Evaluates from time to time, always on the same samples: the first ones of
/// --eval-data, in order. Training goes on as if nothing had happened.
class Evaluator {
public:
  explicit Evaluator(const Job &job) : job(job) {}

  /// Opens the data; without --eval-data there is nothing to do, ever.
  rt::Status open(const Options &options, const Executable &executable);

  bool isOpen() const { return data != nullptr; }
  /// Whether to evaluate after so many steps, of `all` in all.
  bool isDue(uint64_t steps, uint64_t all) const;
  /// The mean loss over the samples after `steps` steps. A signal ends it early, without
  /// a result: `complete` is false then.
  rt::Status run(const Session &session, uint64_t steps, Evaluation &result, bool &complete) const;

  /// Prints what is to be known of a result besides the loss.
  void warn(const zero_rt_evaluation &total) const;

  const Data &getData() const { return data; }
  uint64_t samplesEachTime() const { return samples; }

private:
  rt::Status runSamples(const Session &session, Evaluation &result, bool &complete) const;

  const Job &job;
  Data data;
  uint64_t every = 0;              ///< 0: only at the end
  bool usesAverages = false;       ///< in place of parameters
  uint64_t samples = 0, batch = 1; ///< each time; in a global batch
};

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_EVALUATION_H
