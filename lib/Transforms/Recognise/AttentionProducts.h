//===- AttentionProducts.h - the products of attention ---------*- C++ -*-===//
//
// Attention and its gradient have products of two kinds, of rows and of weights, which exporters
// write with either operand transposed, with the result transposed, scaled, and with batch and
// heads merged. This file brings them into one form.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_RECOGNISE_ATTENTIONPRODUCTS_H
#define LIB_TRANSFORMS_RECOGNISE_ATTENTIONPRODUCTS_H

#include "ConstantValues.h"
#include "zero/Ops/NodeBuilder.h"

namespace zero {

/// The number that `value`, constant or computed from constants, has everywhere.
std::optional<double> scalarOf(mlir::Value value, ConstantValues &values);

/// Whether `node` multiplies or divides its operand `scaled`, whose type it keeps, by a number. If
/// so, does the same to `scale`.
bool takeScale(onnx::NodeOp node, mlir::Value scaled, double &scale, ConstantValues &values);

/// `value` without multiplications by numbers, by which `scale` is multiplied.
mlir::Value unscaled(mlir::Value value, double &scale, ConstantValues &values);

/// Whether `node`, which may be null, is a Reshape that keeps the last two dimensions.
bool reshapesBatch(onnx::NodeOp node);

/// Whether `node`, which may be null, is a product of matrices in equal batches.
bool isProduct(onnx::NodeOp node);

/// Queries, keys, values or their gradients, [..., sequence, width], as scale times a transpose of
/// `root`.
struct HeadRows {
  mlir::Value root;
  llvm::SmallVector<int64_t> permutation;
  double scale = 1;

  /// Whether both are the same but for the scale.
  bool isSame(const HeadRows &other) const {
    return root == other.root && permutation == other.permutation;
  }
  /// The rows without the scale.
  mlir::Value build(NodeBuilder &builder) const;
};

/// `value`, or its transpose if `swapped`, as rows. The scale stays in the root unless `values` are
/// given.
HeadRows readRows(mlir::Value value, bool swapped, ConstantValues *values = nullptr);

/// scores = left right^T.
struct ScoresProduct {
  onnx::NodeOp node;
  HeadRows left, right;
};

/// The product that `scores`, [..., queries, keys], is, if it is one that nothing else reads.
/// Scales are taken out of the rows if `values` are given.
std::optional<ScoresProduct> readScores(mlir::Value scores, ConstantValues *values = nullptr);

/// A product of weights w, [..., queries, keys], and rows: w rows or w^T rows.
struct MixingProduct {
  onnx::NodeOp node;
  bool overKeys;   ///< w rows, one row for each query; else w^T rows, one for each key
  bool transposed; ///< the result of `node` is the transpose of that
  HeadRows rows;
};

/// The product at `use`, which reads weights. Scales are taken out of the rows if `values` are
/// given.
std::optional<MixingProduct> readMixing(mlir::OpOperand &use, ConstantValues *values = nullptr);

/// The uses of `weights`, also behind reshapes that keep rows.
llvm::SmallVector<mlir::OpOperand *> usesOfWeights(mlir::Value weights);

} // namespace zero

#endif // LIB_TRANSFORMS_RECOGNISE_ATTENTIONPRODUCTS_H
