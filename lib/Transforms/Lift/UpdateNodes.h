//===- UpdateNodes.h - nodes of elementwise updates -------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_LIFT_UPDATENODES_H
#define LIB_TRANSFORMS_LIFT_UPDATENODES_H

#include "dialects/Onnx/Onnx.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace zero {

/// "MatMul node 'v20'", or what else `value` is, for messages.
std::string describe(mlir::Value value);

/// Whether `value` has one element.
bool isScalar(mlir::Value value);
bool sameShape(mlir::Value a, mlir::Value b);

/// Where `value` comes from through nodes that only change the shape: of the same shape as `value`,
/// or also of one element.
mlir::Value skipViews(mlir::Value value);

/// The operands from which the first result of `op` is computed: a batch normalization that trains
/// normalizes without its running statistics.
mlir::ValueRange readForResult(mlir::Operation *op);

/// A write of other state than `read` reads whose value depends on it; null if there is none.
WriteOp findOtherWrite(ReadOp read);

/// The node that computes `value` element by element from operands of its shape or of one element;
/// null if there is none.
onnx::NodeOp elementwiseNode(mlir::Value value);

/// Elementwise nodes of one element, in order, and the values of one element that they begin with.
struct ScalarNodes {
  llvm::SmallVector<onnx::NodeOp> nodes;
  llvm::SmallVector<mlir::Value> leaves;
};
/// The nodes that compute `roots`, which are of one element.
ScalarNodes collectScalarNodes(mlir::func::FuncOp step, llvm::ArrayRef<mlir::Value> roots);

/// Whether the result of `node` is linear in those operands that vary, taken together. A cast is,
/// up to rounding.
bool isLinear(onnx::NodeOp node, llvm::ArrayRef<bool> varies);

/// The value of which `node` computes a norm over all elements, or its square; else null.
mlir::Value normedBy(onnx::NodeOp node);

/// The scalars of an update that follow from norms of its parameter's tensor.
struct LayerScalars {
  llvm::SetVector<mlir::Value> norms;
  llvm::DenseSet<mlir::Value> pure;  ///< norms, and what follows from them and constants
  llvm::SetVector<mlir::Value> ends; ///< those of `pure` that are used for more
};

/// Sorts `scalars`, whose roots are `roots`, by whether they follow from `norms` alone.
LayerScalars sortScalars(const ScalarNodes &scalars, llvm::ArrayRef<mlir::Value> roots,
                         const llvm::SetVector<mlir::Value> &norms);

} // namespace zero

#endif // LIB_TRANSFORMS_LIFT_UPDATENODES_H
