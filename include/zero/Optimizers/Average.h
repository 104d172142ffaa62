//===- Average.h - averages of parameters over updates ----------*- C++ -*-===//

#ifndef ZERO_OPTIMIZERS_AVERAGE_H
#define ZERO_OPTIMIZERS_AVERAGE_H

#include "zero/Optimizers/Optimizer.h"

#include <optional>

namespace zero {

/// Which average of each trained parameter a step keeps.
struct AverageOptions {
  /// Exponential, with the weight 1 - decay for each new value, as
  /// torch.optim.swa_utils.AveragedModel has it; none: all values have the same weight, as in
  /// stochastic weight averaging (Izmailov et al., arXiv 1803.05407).
  std::optional<double> decay;
  /// Values after the updates `start`, `start` + `every`, ..., counted from 1, count. The first of
  /// them replaces the initial value of the parameter.
  uint64_t every = 1, start = 1;
};

/// Parses a decay rate or "mean"; returns null and a message in `error` if `text` is neither.
std::optional<AverageOptions> parseAverage(llvm::StringRef text, std::string &error);

/// `optimizer` with an average of each parameter as its first state, which is f32 and computed from
/// the f32 value of the parameter. `optimizer` must not be layerwise.
std::unique_ptr<Optimizer> addAverage(std::unique_ptr<Optimizer> optimizer,
                                      const AverageOptions &options);

} // namespace zero

#endif // ZERO_OPTIMIZERS_AVERAGE_H
