//===- Optimizers.h - the optimizers ----------------------------*- C++ -*-===//

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
std::unique_ptr<Optimizer> createLamb(const OptimizerOptions &options);
std::unique_ptr<Optimizer> createLion(const OptimizerOptions &options);

/// `value` as people write it: 1e-08, 0.9.
std::string number(double value);

/// Appends the next moments of `gradient`, as Adam and LAMB keep them.
void buildMoments(Formula &f, const OptimizerOptions &options, mlir::Value m, mlir::Value v,
                  mlir::Value gradient, llvm::SmallVectorImpl<mlir::Value> &results);

} // namespace zero

#endif // LIB_OPTIMIZERS_OPTIMIZERS_H
