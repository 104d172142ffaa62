//===- AttentionCore.cpp - scaled dot-product attention -------------------===//
//
// zero::Attention(q, k, v, padding?, mask?, query_segments?, key_segments?) {scale, causal,
// offset, window, prefix, fill, guard, rows_first, packed_heads} -> (o, lse): q is [batch, heads,
// queries, width], k and v are [batch, groups, keys, width]; each group of keys serves heads /
// groups neighbouring heads.
//   o = MaskedSoftmax(q k^T, padding, mask, query_segments, key_segments) v,
// whose attributes and masks these are (MaskedSoftmax.cpp); lse, [batch, heads,
// queries], is the logarithm of the sum of exp of each row of masked scores.
//
// rows_first, four flags for q, k, v and o: which of them are stored as [batch, rows, heads,
// width] instead, as products of rows leave them. packed_heads, [heads, groups]: q is
// [batch, rows, all], with the heads of q, k and v one behind the other in each row,
// and k and v are left out.
//
// Gradient: zero::AttentionGrad(do, q, k, v, o, lse, padding?, mask?, ...) -> (dq, dk, dv),
// or one packed tensor; only o and lse are kept for backward (Dao et al., FlashAttention,
// arXiv 2205.14135, section 3.1). Each is one call of the runtime's own kernel, which
// stores no matrix of queries by keys. A number in a mask has a gradient, too: by
// primitives, which store such matrices in backward.
//
//===----------------------------------------------------------------------===//

#include "AttentionCore.h"
#include "Contraction.h"
#include "Masking.h"
#include "Movement.h"
#include "zero/Ops/Concat.h"

#include "mlir/IR/Remarks.h"

#include <limits>

using namespace mlir;

namespace zero {

/// Queries, keys, values or the result, of `type`.
static HeadTensor headTensor(RankedTensorType type, bool rowsFirst) {
  ArrayRef<int64_t> shape = type.getShape();
  return {shape[rowsFirst ? 2 : 1], shape[rowsFirst ? 1 : 2], shape[3], rowsFirst};
}

AttentionForm::AttentionForm(onnx::NodeOp node)
    : isGradient(node.is(own::AttentionGrad)), first(isGradient ? 1 : 0),
      padding(isGradient ? 6 : 3) {
  auto flags = node.getInts(kRowsFirst).value_or(SmallVector<int64_t>(4, 0));
  auto packedHeads = node.getInts(kPackedHeads);
  packed = packedHeads.has_value();
  result = headTensor(isGradient ? node.inputType(4) : node.outputType(0), flags[3]);
  RankedTensorType type = node.inputType(first);
  batch = type.getDimSize(0);
  if (!packed) {
    query = headTensor(type, flags[0]);
    key = headTensor(node.inputType(first + 1), flags[1]);
    value = headTensor(node.inputType(first + 2), flags[2]);
    return;
  }
  int64_t heads = packedHeads->front(), groups = packedHeads->back(), rows = type.getDimSize(1);
  value = {groups, rows, result.width, true};
  int64_t width = (type.getDimSize(2) - groups * value.width) / (heads + groups);
  query = {heads, rows, width, true};
  key = {groups, rows, width, true};
}

bool AttentionForm::isEmpty() const {
  return !batch || !query.heads || !query.rows || !key.rows || !query.width || !value.width;
}

onnx::NodeOp createAttention(NodeBuilder &builder, ValueRange operands,
                             ArrayRef<NamedAttribute> attrs) {
  RankedTensorType query = tensorType(operands[0]);
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = tensorType(operands[2]).getDimSize(3);
  Type sum = query.getElementType().isF64() ? query.getElementType()
                                            : Type(builder.getBuilder().getF32Type());
  auto lse = RankedTensorType::get(query.getShape().drop_back(), sum);
  return builder.create(own::Attention, {query.clone(shape), lse}, operands, attrs);
}

namespace ops {

LogicalResult checkHeads(onnx::NodeOp node, int64_t heads, int64_t groups) {
  if (groups > 0 && heads % groups == 0)
    return success();
  return nodeError(node) << "expected a multiple of " << groups << " query heads, got " << heads;
}

//===----------------------------------------------------------------------===//
// Products as nodes
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

Value headsNode(NodeBuilder &builder, Value value, const HeadTensor &form) {
  return form.rowsFirst ? builder.transpose(value, {0, 2, 1, 3}) : value;
}

std::array<Value, 3> headsNodes(NodeBuilder &builder, onnx::NodeOp node,
                                const AttentionForm &form) {
  const std::array tensors{form.query, form.key, form.value};
  SmallVector<Value> parts(node.getInputs().slice(form.first, form.packed ? 1 : 3));
  if (form.packed) {
    SmallVector<int64_t> sizes;
    for (const HeadTensor &tensor : tensors)
      sizes.push_back(tensor.heads * tensor.width);
    parts = splitNode(builder, parts.front(), sizes, 2);
    for (auto [part, tensor] : llvm::zip_equal(parts, tensors))
      part = builder.reshape(part, {form.batch, tensor.rows, tensor.heads, tensor.width});
  }
  std::array<Value, 3> heads;
  for (auto [head, part, tensor] : llvm::zip_equal(heads, parts, tensors))
    head = headsNode(builder, part, tensor);
  return heads;
}

SmallVector<Value> storedNodes(NodeBuilder &builder, std::array<Value, 3> heads,
                               const AttentionForm &form) {
  SmallVector<Value> stored;
  for (auto [head, tensor] : llvm::zip_equal(heads, std::array{form.query, form.key, form.value})) {
    stored.push_back(headsNode(builder, head, tensor));
    if (form.packed)
      stored.back() =
          builder.reshape(stored.back(), {form.batch, tensor.rows, tensor.heads * tensor.width});
  }
  return form.packed ? SmallVector<Value>{concatNode(builder, stored, 2)} : stored;
}

/// The softmax of `scores` with the masks of `node`.
static Value softmaxNode(NodeBuilder &builder, onnx::NodeOp node, Value scores,
                         const AttentionForm &form) {
  NamedAttrList attrs(node.getAttrs());
  attrs.erase(kRowsFirst);
  attrs.erase(kPackedHeads);
  SmallVector<Value> operands{scores};
  llvm::append_range(operands, node.getInputs().drop_front(form.padding));
  Type type = operands[0].getType();
  return builder.create(own::MaskedSoftmax, type, operands, attrs.getAttrs()).getResult(0);
}

/// The softmax of the masked scores of `query` and `key`.
static Value weightsNode(NodeBuilder &builder, onnx::NodeOp node, Value query, Value key,
                         const AttentionForm &form) {
  return softmaxNode(builder, node, scoresNode(builder, query, key), form);
}

/// The gradient of scores scaled by `scale`, for the gradient `dy` of the mixed rows.
static Value scoresGradient(NodeBuilder &builder, Value dy, Value value, Value weights,
                            double scale = 1) {
  Value slope = scoresNode(builder, dy, value);
  return builder
      .create(own::MaskedSoftmaxGrad, weights.getType(), {slope, weights},
              builder.attr("scale", scale))
      .getResult(0);
}

/// weights^T rows, summed over the heads of a group: [batch, groups, keys, width].
static Value gatherNode(NodeBuilder &builder, Value weights, Value rows, int64_t groups) {
  return contractNode(builder, asGroups(builder, weights, groups), asGroups(builder, rows, groups),
                      true, false);
}

static LogicalResult gradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads) {
  AttentionForm form(node);
  ValueRange inputs = node.getInputs();
  if (dy[1])
    return node.emitError() << "no gradient through the sums of " << node.describe();
  if (llvm::is_contained(wanted.take_front(3), true)) {
    SmallVector<Value> operands{dy[0]};
    llvm::append_range(operands, inputs.take_front(3));
    llvm::append_range(operands, node.getOutputs());
    llvm::append_range(operands, inputs.drop_front(3));
    auto types = llvm::to_vector(inputs.take_front(form.packed ? 1 : 3).getTypes());
    onnx::NodeOp made =
        builder.create(own::AttentionGrad, types, operands, node.getAttrs().getValue());
    for (auto [index, result] : llvm::enumerate(made.getOutputs()))
      if (wanted[index])
        grads[index] = result;
  }
  auto wantsMask = [&](unsigned index) { return index < wanted.size() && wanted[index]; };
  if (!wantsMask(3) && !wantsMask(4))
    return success();
  remark::missed(node.getLoc(), remark::RemarkOpts::name("apart").category("attention"))
      << "attention at node '" + node.getNode().str() +
             "' is not a single kernel in backward: its mask has a gradient";
  auto [query, key, value] = headsNodes(builder, node, form);
  Value weights = weightsNode(builder, node, query, key, form);
  Value slope = scoresGradient(builder, headsNode(builder, dy[0], form.result), value, weights);
  if (wantsMask(3))
    grads[3] = sumToPadding(builder, slope, node.inputType(3));
  if (wantsMask(4))
    grads[4] = builder.reduceTo(slope, node.inputType(4));
  return success();
}

/// Heads, if the parts divide the groups of keys, and batches. A packed operand has only the
/// latter.
Factors attentionFactors(onnx::NodeOp node) {
  AttentionForm form(node);
  auto headDim = [](const HeadTensor &tensor) { return tensor.rowsFirst ? 2 : 1; };
  SmallVector<int64_t> heads{headDim(form.query), headDim(form.key), headDim(form.value)};
  SmallVector<int64_t> batch{0, 0, 0};
  for (auto [index, input] : llvm::enumerate(node.getInputs().drop_front(3))) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    // [batch, heads, queries, keys]; padding is [batch, keys], as segments are
    const bool isMask = index == 1;
    const int64_t back = type ? type.getRank() - 4 : 0;
    auto own = [&](int64_t dim, int64_t extent) {
      const bool isThere =
          type && dim >= 0 && dim < type.getRank() && extent != 1 && type.getDimSize(dim) == extent;
      return isThere ? dim : -1;
    };
    heads.push_back(isMask ? own(back + 1, form.query.heads) : -1);
    batch.push_back(isMask ? own(back, form.batch) : own(0, form.batch));
  }
  FactorBuilder factors(node);
  if (form.packed) {
    batch[1] = batch[2] = -1;
    return factors.add(batch, {0, 0}).take();
  }
  return factors.add(heads, {headDim(form.result), 1}).add(batch, {0, 0}).take();
}

void registerAttentionCore() {
  registerOp(OpDef{own::Attention, 1, 1, Kind::Other, lowerAttention, gradient}
                 .keepsWide(/*results=*/2)
                 .dividedBy(attentionFactors));
  registerOp({own::AttentionGrad, 1, 1, Kind::Other, lowerAttentionGrad});
}

} // namespace ops

Value expandAttention(NodeBuilder &builder, onnx::NodeOp node) {
  AttentionForm form(node);
  auto [query, key, value] = ops::headsNodes(builder, node, form);
  Value weights = ops::weightsNode(builder, node, query, key, form);
  return ops::headsNode(builder, ops::mixNode(builder, weights, value), form.result);
}

Value largestScores(NodeBuilder &builder, onnx::NodeOp node) {
  AttentionForm form(node);
  auto [query, key, value] = ops::headsNodes(builder, node, form);
  Value scores = ops::scoresNode(builder, query, key);
  Value weights = ops::softmaxNode(builder, node, scores, form);
  Type f32 = builder.getBuilder().getF32Type();
  auto type = RankedTensorType::get({}, f32);
  scores = builder.cast(scores, f32);
  // The largest score of a row has a weight, which no rounding makes 0.
  Value seen = builder.binary(op::Greater, builder.cast(weights, f32), builder.scalar(0, type));
  Value hidden = builder.scalar(-std::numeric_limits<double>::infinity(), type);
  Value largest = builder
                      .create(op::ReduceMax, type.clone(ArrayRef<int64_t>(form.query.heads)),
                              {builder.where(seen, scores, hidden), builder.indices({0, 2, 3})},
                              builder.attr("keepdims", int64_t(0)))
                      .getResult(0);
  return builder.mul(largest, builder.scalar(node.getFloat("scale", 1), type));
}

std::pair<Value, Value> limitScores(NodeBuilder &nodes, Value scores, int64_t keys, double limit) {
  auto type = tensorType(scores);
  Value most = nodes.scalar(limit, type), one = nodes.scalar(1, type);
  Value factors =
      nodes.where(nodes.binary(op::Greater, scores, most), nodes.div(most, scores), one);
  factors = nodes.reshape(factors, {keys, type.getNumElements() / keys});
  Value least = nodes
                    .create(op::ReduceMin, type.clone({keys, int64_t(1)}),
                            {factors, nodes.indices({1})}, nodes.attr("keepdims", int64_t(1)))
                    .getResult(0);
  Value root = nodes.unary(op::Sqrt, least);
  return {nodes.reshape(nodes.div(factors, root), {type.getNumElements()}),
          nodes.reshape(root, {keys})};
}

SmallVector<Value> expandAttentionGrad(NodeBuilder &builder, onnx::NodeOp node) {
  AttentionForm form(node);
  auto [query, key, value] = ops::headsNodes(builder, node, form);
  Value weights = ops::weightsNode(builder, node, query, key, form);
  Value dy = ops::headsNode(builder, node.getInputs()[0], form.result);
  Value slope = ops::scoresGradient(builder, dy, value, weights, node.getFloat("scale", 1));
  const int64_t groups = form.key.heads;
  return ops::storedNodes(builder,
                          {ops::mixNode(builder, slope, key),
                           ops::gatherNode(builder, slope, query, groups),
                           ops::gatherNode(builder, weights, dy, groups)},
                          form);
}

} // namespace zero
