//===- Tables.h - parameters of which nodes read rows -----------*- C++ -*-===//
// A table has one row for each word of a vocabulary, or for each class. Passes that divide a table
// into tiles or shards ask here which readers need no row of another part.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPS_TABLES_H
#define ZERO_OPS_TABLES_H

#include "zero/Ops/Factors.h"

#include <optional>

namespace zero::ops {

/// Whether `node` is a product of matrices.
bool isProduct(onnx::NodeOp node);

/// The factor of operand `operand` of a product that its result has, and the other multiplicand has
/// not: rows of a matrix on the left, columns of one on the right, output channels of a
/// convolution. Nothing if there is none, or if `node` is no product.
std::optional<Factor> outputFactor(onnx::NodeOp node, unsigned operand);

/// Whether `node` only gives the elements of its first operand another shape; false if it is null.
bool isView(onnx::NodeOp node);

/// Whether `use` is a table of which a Gather takes rows.
bool readsTable(mlir::OpOperand &use);

/// Whether `node` is a cross-entropy of scores of [rows, classes] that can be computed from parts
/// of the classes. One that smooths labels needs the scores of all classes, and one that has a
/// coordinate of ranks already reads a part.
bool isPlainLoss(onnx::NodeOp node);

/// The cross-entropy, as in isPlainLoss(), that alone reads the scores that `product` makes,
/// through views; null if there is none.
onnx::NodeOp lossOfScores(onnx::NodeOp product);

} // namespace zero::ops

#endif // ZERO_OPS_TABLES_H
