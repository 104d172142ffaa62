//===- AttentionCore.h - scaled dot-product attention -----------*- C++ -*-===//

#ifndef LIB_OPS_ATTENTIONCORE_H
#define LIB_OPS_ATTENTIONCORE_H

#include "dialects/Zero/Zero.h"
#include "zero/Ops/Attention.h"
#include "zero/Ops/OpTable.h"

#include <array>

namespace zero::ops {

/// Lower zero::Attention and zero::AttentionGrad, and offer them as library calls.
llvm::LogicalResult lowerAttention(onnx::NodeOp node, mlir::ValueRange inputs,
                                   mlir::OpBuilder &builder, Lowered &lowered);
llvm::LogicalResult lowerAttentionGrad(onnx::NodeOp node, mlir::ValueRange inputs,
                                       mlir::OpBuilder &builder, Lowered &lowered);

/// The library's call for `node`, or null where it has none: it knows floats of at
/// most 32 bits, and nothing empty.
AttentionAttr attentionCall(onnx::NodeOp node, const AttentionForm &form, mlir::Builder builder);

/// The products of attention over [batch, heads, sequence, width], in which keys
/// and values may have fewer heads: q k^T, and weights v.
mlir::Value scoresNode(NodeBuilder &builder, mlir::Value query, mlir::Value key);
mlir::Value mixNode(NodeBuilder &builder, mlir::Value weights, mlir::Value value);
/// `value`, stored as `form` says, as [batch, heads, rows, width], and back.
mlir::Value headsNode(NodeBuilder &builder, mlir::Value value, const HeadTensor &form);
/// Queries, keys and values of `node` as [batch, heads, rows, width].
std::array<mlir::Value, 3> headsNodes(NodeBuilder &builder, onnx::NodeOp node,
                                      const AttentionForm &form);
/// Those, or their gradients, as they are stored: one packed tensor, or three.
llvm::SmallVector<mlir::Value> storedNodes(NodeBuilder &builder, std::array<mlir::Value, 3> heads,
                                           const AttentionForm &form);
/// The factors of zero::Attention.
Factors attentionFactors(onnx::NodeOp node);
/// An error at `node` unless the keys' heads, `groups`, divide those of the queries.
llvm::LogicalResult checkHeads(onnx::NodeOp node, int64_t heads, int64_t groups);

} // namespace zero::ops

#endif // LIB_OPS_ATTENTIONCORE_H
