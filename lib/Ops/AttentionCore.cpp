//===- AttentionCore.cpp - scaled dot-product attention -------------------===//
//
// zero::Attention(q, k, v, padding?, mask?) {scale, causal, offset, fill, guard}:
// q is [batch, heads, queries, width], k and v are [batch, groups, keys, width];
// each group of keys serves heads / groups neighbouring heads. The result is
//   MaskedSoftmax(q k^T, padding, mask) v,
// whose attributes and masks these are (MaskedSoftmax.cpp). What reads a mask, and
// what only needs to compare positions, can be seen from the node.
//
// Expanded to two products around the softmax. The heads of a group become rows
// of one matrix, which costs nothing, so keys and values are never repeated.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Movement.h"

using namespace mlir;

namespace zero::ops {

LogicalResult checkHeads(onnx::NodeOp node, Value query, Value key) {
  int64_t heads = tensorType(query).getDimSize(1), groups = tensorType(key).getDimSize(1);
  if (groups && heads % groups == 0)
    return success();
  return nodeError(node) << "expected a multiple of " << groups << " query heads, got " << heads;
}

/// `rows`, [batch, heads, n, m], as [batch, groups, heads / groups * n, m].
static Value asGroups(NodeBuilder &builder, Value rows, int64_t groups) {
  SmallVector<int64_t> shape(tensorType(rows).getShape());
  shape[2] *= shape[1] / groups;
  shape[1] = groups;
  return builder.reshape(rows, shape);
}

Value scoresNode(NodeBuilder &builder, Value query, Value key) {
  int64_t groups = tensorType(key).getDimSize(1);
  Value scores = contractNode(builder, asGroups(builder, query, groups), key, false, true);
  SmallVector<int64_t> shape(tensorType(query).getShape());
  shape.back() = tensorType(key).getDimSize(2);
  return builder.reshape(scores, shape);
}

Value mixNode(NodeBuilder &builder, Value weights, Value value) {
  int64_t groups = tensorType(value).getDimSize(1);
  Value mixed = contractNode(builder, asGroups(builder, weights, groups), value, false, false);
  SmallVector<int64_t> shape(tensorType(weights).getShape());
  shape.back() = tensorType(value).getDimSize(3);
  return builder.reshape(mixed, shape);
}

static LogicalResult expandCore(onnx::NodeOp node, NodeBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  ValueRange inputs = node.getInputs();
  if (failed(checkHeads(node, inputs[0], inputs[1])))
    return failure();
  Value scores = scoresNode(builder, inputs[0], inputs[1]);
  SmallVector<Value> operands{scores};
  llvm::append_range(operands, inputs.drop_front(3));
  Value weights = builder
                      .create(kZeroDomain, "MaskedSoftmax", scores.getType(), operands,
                              node.getAttrs().getValue())
                      .getResult(0);
  results.push_back(mixNode(builder, weights, inputs[2]));
  return success();
}

void registerAttentionCore() {
  registerOp({kZeroDomain, "Attention", 1, 1, Kind::Other, nullptr, nullptr, expandCore});
}

} // namespace zero::ops
