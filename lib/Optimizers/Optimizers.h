//===- Optimizers.h - the optimizers and their small vocabulary -*- C++ -*-===//

#ifndef LIB_OPTIMIZERS_OPTIMIZERS_H
#define LIB_OPTIMIZERS_OPTIMIZERS_H

#include "zero/Optimizers/Kernel.h"
#include "zero/Optimizers/Optimizer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace zero {

std::unique_ptr<Optimizer> createSgd(const OptimizerOptions &options);
/// Adam with L2 regularisation, or AdamW when `decoupled`.
std::unique_ptr<Optimizer> createAdam(const OptimizerOptions &options, bool decoupled);

/// `value` as people write it: 1e-08, 0.9.
std::string number(double value);

} // namespace zero

#endif // LIB_OPTIMIZERS_OPTIMIZERS_H
