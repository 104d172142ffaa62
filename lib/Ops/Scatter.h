//===- Scatter.h - gradients of gathers and scatters ------------*- C++ -*-===//
//
// Gather, GatherElements and GatherND have one gradient, a scatter that adds;
// ScatterElements and ScatterND have one pair for each reduction: see Scatter.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_OPS_SCATTER_H
#define LIB_OPS_SCATTER_H

#include "Movement.h"

namespace zero::ops {

/// The gradient of a gather's data: zero::<type>(dy, indices) {attrs, shape}, which
/// adds dy to a tensor of zeros of the data's shape, in row-major order of dy.
llvm::LogicalResult gatherGradient(onnx::NodeOp node, mlir::ValueRange dy,
                                   llvm::ArrayRef<bool> wanted, NodeBuilder &builder,
                                   llvm::MutableArrayRef<mlir::Value> grads, onnx::Operator type,
                                   mlir::NamedAttribute attr);

/// The gradient of what `node`, a gather's gradient, scatters: the gather `gather` {attr} of its
/// result's gradient.
llvm::LogicalResult scatteredGradient(onnx::NodeOp node, mlir::ValueRange dy,
                                      llvm::ArrayRef<bool> wanted, NodeBuilder &builder,
                                      llvm::MutableArrayRef<mlir::Value> grads,
                                      onnx::Operator gather, mlir::NamedAttribute attr);

/// The gradients of a scatter's data and updates, whose opposite is the operator
/// `gather`; both take `attrs`.
llvm::LogicalResult scatterGradient(onnx::NodeOp node, mlir::ValueRange dy,
                                    llvm::ArrayRef<bool> wanted, NodeBuilder &builder,
                                    llvm::MutableArrayRef<mlir::Value> grads, onnx::Operator gather,
                                    llvm::ArrayRef<mlir::NamedAttribute> attrs);

/// How a scatter combines an update with the existing value; nothing if it replaces it. Fails after
/// an error if `reduction` is not one of ONNX's.
mlir::FailureOr<std::optional<Combine>> scatterReduction(onnx::NodeOp node);

/// Whether row `row` of the updates of a sum counts.
using RowCounts = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::Value row)>;

/// scatterRows() that adds, of the rows that count; null: all do.
mlir::Value addRows(mlir::ImplicitLocOpBuilder &b, mlir::Value into, mlir::Value updates,
                    RowIndex rowIndex, RowCounts rowCounts);

} // namespace zero::ops

#endif // LIB_OPS_SCATTER_H
