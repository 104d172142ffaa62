//===- evaluation.h - the mean loss over any number of samples --*- C++ -*-===//

#ifndef RUNTIME_SESSION_EVALUATION_H
#define RUNTIME_SESSION_EVALUATION_H

#include "runtime/io/sampling.h"
#include "runtime/support/status.h"
#include "zero_rt/evaluation.h"

#include <functional>
#include <string>
#include <vector>

namespace zero::rt {

/// What the program returns for a global batch.
struct BatchLoss {
  double loss = 0;   ///< the mean over the samples, each with its weight
  double weight = 1; ///< the sum of these weights per part of the batch; 1 if they are equal
};

/// Evaluates a global batch of chosen samples.
using EvaluateBatch = std::function<Status(const SampleChoice &choice, BatchLoss &result)>;

/// Adds `count` samples from `first` on to `total`, each once. `batch`, the number of samples in a
/// global batch, is at least `count`. An incomplete batch is filled up with repeats, whose share is
/// subtracted: see docs/design/decisions/runtime.md.
Status evaluateSamples(const EvaluateBatch &evaluate, uint64_t first, uint64_t count,
                       uint64_t batch, zero_rt_evaluation &total);

/// What the caller must know about `total` besides its loss.
std::vector<std::string> warningsOf(const zero_rt_evaluation &total);

} // namespace zero::rt

#endif // RUNTIME_SESSION_EVALUATION_H
