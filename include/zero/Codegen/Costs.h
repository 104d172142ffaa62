//===- Costs.h - FLOPs and bytes of a kernel --------------------*- C++ -*-===//

#ifndef ZERO_CODEGEN_COSTS_H
#define ZERO_CODEGEN_COSTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// What one launch of a kernel costs; per element of a dynamic dimension.
struct KernelCosts {
  int64_t flops = 0; ///< floating-point operations; a call of exp counts as one
  int64_t bytes = 0; ///< operands read and results written
};

/// Counts the costs of `kernel`, whose body is linalg on tensors.
KernelCosts computeCosts(mlir::func::FuncOp kernel);

} // namespace zero

#endif // ZERO_CODEGEN_COSTS_H
