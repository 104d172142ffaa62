//===- ParameterUses.h - when the step reads each parameter -----*- C++ -*-===//

#ifndef ZERO_ANALYSIS_PARAMETERUSES_H
#define ZERO_ANALYSIS_PARAMETERUSES_H

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace zero {

/// The ops that read one parameter's value, reshapes looked through, in order.
struct ParameterUse {
  llvm::SmallVector<mlir::Operation *> forward;
  llvm::SmallVector<mlir::Operation *> backward;
};

/// The uses of every parameter that the step reads, in order of first use.
/// Forward is what the loss is computed from.
llvm::MapVector<mlir::StringAttr, ParameterUse> findParameterUses(mlir::func::FuncOp step);

/// The ops of `step` that its results bound as losses depend on.
llvm::DenseSet<mlir::Operation *> findForwardOps(mlir::func::FuncOp step);

} // namespace zero

#endif // ZERO_ANALYSIS_PARAMETERUSES_H
