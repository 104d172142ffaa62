//===- LossLabels.h - weights of the labels of a loss -----------*- C++ -*-===//

#ifndef LIB_OPS_LOSSLABELS_H
#define LIB_OPS_LOSSLABELS_H

#include "Lowering.h"

namespace zero::ops {

/// The labels of a loss node, of which one class may be ignored (`ignore_index`).
struct LossLabels {
  onnx::NodeOp node;
  mlir::Value weights; ///< of the classes, or null
  int64_t classes;
  mlir::Type element; ///< of weights

  /// Whether the element `label` counts; null where no label is ignored.
  mlir::Value isValid(mlir::ImplicitLocOpBuilder &in, mlir::Value label);
  /// The label, moved into [0, classes).
  mlir::Value inside(mlir::ImplicitLocOpBuilder &in, mlir::Value label);
  /// The weight of `label`; 0 when it is ignored.
  mlir::Value weightOf(mlir::ImplicitLocOpBuilder &in, mlir::Value label);
  /// The term of a row in the loss: the weight of `label` times `lse` less its `score`.
  mlir::Value lossOf(mlir::ImplicitLocOpBuilder &in, mlir::Value label, mlir::Value lse,
                     mlir::Value score);
  /// The sum of the weights of all `labels`.
  mlir::Value sumWeights(mlir::ImplicitLocOpBuilder &b, mlir::Value labels);
  /// Checks that all of `labels` that are not ignored are in [0, classes).
  RangeCheck check(mlir::ImplicitLocOpBuilder &b, mlir::Value labels);
};

/// Sums the results of `body` for the operands' elements over all rows.
mlir::Value sumRows(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange operands,
                    mlir::RankedTensorType rowType, Body body);

} // namespace zero::ops

#endif // LIB_OPS_LOSSLABELS_H
