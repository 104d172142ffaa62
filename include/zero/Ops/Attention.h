//===- Attention.h - operands and shapes of zero::Attention -----*- C++ -*-===//

#ifndef ZERO_OPS_ATTENTION_H
#define ZERO_OPS_ATTENTION_H

#include "zero/Ops/AxisCollectives.h"
#include "zero/Ops/NodeBuilder.h"

namespace zero {

/// Attributes of zero::Attention and zero::AttentionGrad that describe the layout of tensors; see
/// AttentionCore.cpp.
inline constexpr llvm::StringLiteral kRowsFirst = "rows_first";
inline constexpr llvm::StringLiteral kPackedHeads = "packed_heads";
/// Attributes of those and zero::MaskedSoftmax that bound the keys of a query; see
/// MaskedSoftmax.cpp.
inline constexpr llvm::StringLiteral kWindow = "window";
inline constexpr llvm::StringLiteral kPrefix = "prefix";

/// Queries, keys, values or the result: [batch, heads, rows, width], or, with
/// `rowsFirst`, [batch, rows, heads, width].
struct HeadTensor {
  int64_t heads, rows, width;
  bool rowsFirst;
};

/// The shapes of an attention or its gradient, and the layout of its tensors.
struct AttentionForm {
  /// `node` is a zero::Attention or a zero::AttentionGrad.
  explicit AttentionForm(onnx::NodeOp node);

  /// Elements of a row of the packed tensor.
  int64_t packedWidth() const {
    return query.heads * query.width + key.heads * key.width + value.heads * value.width;
  }
  /// Whether a result or an operand is empty.
  bool isEmpty() const;

  bool isGradient;
  bool packed;
  int64_t batch;
  HeadTensor query, key, value, result;
  unsigned first;   ///< operand of queries; keys and values follow
  unsigned padding; ///< operand; the mask, and segments of queries and of keys follow
};

/// A zero::Attention of `operands` (queries, keys, values [batch, heads, rows, width],
/// padding, mask, and both segments or onnx.none), with attributes of zero::MaskedSoftmax. Its
/// results are the mixed values and the logarithm of each row's sum of exp.
onnx::NodeOp createAttention(NodeBuilder &builder, mlir::ValueRange operands,
                             llvm::ArrayRef<mlir::NamedAttribute> attrs);

/// Replaces `attention`, a zero::Attention of the tokens that a rank has of each sequence, by that
/// with the keys of all `ranks`, and returns it; see ContextAttention.cpp.
onnx::NodeOp attendAcross(onnx::NodeOp attention, const AxisRanks &ranks);
/// Why attention of sequences that are cut over ranks cannot be `attention`; empty if it can.
std::string whyNotAcross(onnx::NodeOp attention);

/// Expands `node`, a zero::Attention, into products and a zero::MaskedSoftmax; returns the mixed
/// values.
mlir::Value expandAttention(NodeBuilder &builder, onnx::NodeOp node);

/// The largest score of each head of `node`, a zero::Attention, of the keys that its queries see:
/// scaled, but without what a mask adds; f32.
mlir::Value largestScores(NodeBuilder &builder, onnx::NodeOp node);

/// The factors of the queries of each head, and of each of `keys` heads that share keys, which
/// multiply the scores of a head by `limit` over its one of `scores` if that is larger. With g this
/// quotient, or 1, and m the least g of the heads that share keys, these are multiplied by the root
/// of m, and queries by g over the root of m.
std::pair<mlir::Value, mlir::Value> limitScores(NodeBuilder &nodes, mlir::Value scores,
                                                int64_t keys, double limit);

/// Expands `node`, a zero::AttentionGrad, into products of the weights, computed again, and their
/// gradient; returns the gradients of queries, keys and values, or of the packed tensor.
llvm::SmallVector<mlir::Value> expandAttentionGrad(NodeBuilder &builder, onnx::NodeOp node);

} // namespace zero

#endif // ZERO_OPS_ATTENTION_H
