//===- Activation.h - what a gradient visits --------------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_DIFFERENTIATE_ACTIVATION_H
#define LIB_TRANSFORMS_DIFFERENTIATE_ACTIVATION_H

#include "zero/Ops/Reverse.h"

namespace zero {

/// The ops of `block` that `target` depends on behind the values `ends`, in program order.
llvm::SmallVector<mlir::Operation *> opsBetween(mlir::Block &block, mlir::ValueRange ends,
                                                mlir::Value target);

/// Marks what depends on the values that are active in `reverse`, walking `ops` in program order.
/// A node that depends on them and has no gradient rule is replaced by nodes that compute the same
/// and have rules, such as what a fused gradient stands for; `target` follows. Returns the nodes
/// and other ops that ReverseMode::run visits. A node that cannot be replaced is among them: it is
/// an error once a gradient reaches it.
llvm::SmallVector<mlir::Operation *> activate(llvm::ArrayRef<mlir::Operation *> ops,
                                              ReverseMode &reverse, mlir::Value &target);

/// Adds a note to `error` at each node, at most three, where every path from `starts` ends: the
/// derivative of its operator is zero.
void noteZeroDerivatives(mlir::InFlightDiagnostic &error, mlir::ValueRange starts);

} // namespace zero

#endif // LIB_TRANSFORMS_DIFFERENTIATE_ACTIVATION_H
