//===- ParameterUses.h - when the step reads each parameter -----*- C++ -*-===//

#ifndef ZERO_ANALYSIS_PARAMETERUSES_H
#define ZERO_ANALYSIS_PARAMETERUSES_H

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace zero {

/// The ops that read the value of one parameter, also through reshapes, in order.
struct ParameterUse {
  llvm::SmallVector<mlir::Operation *> forward;
  llvm::SmallVector<mlir::Operation *> backward;
};

/// Forward consists of the ops that the loss depends on.
llvm::MapVector<mlir::StringAttr, ParameterUse> findParameterUses(mlir::func::FuncOp step);

/// `last`, and the ops that they depend on.
llvm::DenseSet<mlir::Operation *> findSources(llvm::ArrayRef<mlir::Operation *> last);

/// The ops of `step` that its results bound as losses depend on.
llvm::DenseSet<mlir::Operation *> findForwardOps(mlir::func::FuncOp step);

} // namespace zero

#endif // ZERO_ANALYSIS_PARAMETERUSES_H
