//===- Attention.cpp ------------------------------------------------------===//
//
// ONNX: Attention; opset 23. Queries, keys and values with 3 or 4 dimensions,
// grouped heads, a boolean or float mask, is_causal and scale; no cache, no
// softcap. Expanded to products and a softmax.
//
// A row whose keys are all masked gives zeros, as the specification says. So
// that neither it nor its gradient ever holds a NaN, a masked score is the
// lowest number rather than minus infinity, and such rows are then cleared.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace zero::ops {

static LogicalResult refuseUnsupported(onnx::NodeOp node) {
  for (auto [index, name] : llvm::enumerate(std::array<StringRef, 2>{"past_key", "past_value"}))
    if (node.hasInput(4 + index))
      return nodeError(node) << "operand '" << name << "' is not supported yet";
  if (node.getFloat("softcap", 0) != 0)
    return nodeError(node) << "attribute 'softcap' is not supported yet";
  for (auto [index, output] : llvm::enumerate(node.getOutputs()))
    if (index > 0 && !output.use_empty())
      return nodeError(node) << "result " << index << " is not supported yet";
  return success();
}

/// Queries, keys or values as [batch, heads, sequence, width].
static Value splitHeads(NodeBuilder &builder, Value value, int64_t heads) {
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  if (shape.size() == 4)
    return value;
  Value split = builder.reshape(value, {shape[0], shape[1], heads, shape[2] / heads});
  return builder.transpose(split, {0, 2, 1, 3});
}

/// Each head `times` times over, one after the other.
static Value repeatHeads(NodeBuilder &builder, Value value, int64_t times) {
  if (times == 1)
    return value;
  SmallVector<int64_t> shape(tensorType(value).getShape());
  SmallVector<int64_t> grouped{shape[0], shape[1], 1, shape[2], shape[3]};
  Value group = builder.reshape(value, grouped);
  grouped[2] = times;
  shape[1] *= times;
  return builder.reshape(builder.expand(group, grouped), shape);
}

/// Which keys each query sees by is_causal, as [queries, keys].
static Value causalMask(NodeBuilder &builder, int64_t queries, int64_t keys) {
  auto type = RankedTensorType::get({queries, keys}, builder.getBuilder().getI1Type());
  return builder
      .create("", "Trilu", type, builder.splat(1, type), builder.attr("upper", int64_t(0)))
      .getResult(0);
}

/// Whether every row of boolean `mask` is known to show a key.
static bool showsAKeyPerRow(Value mask) {
  // The causal mask: each query sees the first key.
  if (auto producer = mask.getDefiningOp<onnx::NodeOp>())
    return producer.getOpType() == "Trilu" && splatNumber(producer.getInputs()[0]);
  DenseIntElementsAttr elements;
  if (!matchPattern(mask, m_Constant(&elements)))
    return false;
  int64_t columns = tensorType(mask).getShape().back();
  bool seen = false;
  for (auto [index, shown] : llvm::enumerate(elements.getValues<bool>())) {
    seen |= shown;
    if (int64_t(index) % columns != columns - 1)
      continue;
    if (!seen)
      return false;
    seen = false;
  }
  return true;
}

/// A mask shorter than the keys hides those that it does not speak of.
static Value paddedMask(NodeBuilder &builder, Value mask, int64_t keys) {
  RankedTensorType type = tensorType(mask);
  int64_t missing = keys - type.getShape().back();
  if (missing == 0)
    return mask;
  SmallVector<int64_t> pads(2 * type.getRank(), 0), shape(type.getShape());
  pads.back() = missing;
  shape.back() = keys;
  double hidden = isFloat(mask) ? -std::numeric_limits<double>::infinity() : 0;
  return builder
      .create("", "Pad", type.clone(shape),
              {mask, builder.indices(pads), builder.scalar(hidden, type)})
      .getResult(0);
}

namespace {
/// Scores under their masks, and which rows show a key; null: all of them.
struct Masked {
  Value scores, shown;
};
} // namespace

static Value lowest(NodeBuilder &builder, Value like) {
  auto type = cast<FloatType>(tensorType(like).getElementType());
  APFloat value = APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true);
  bool lossy;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  return builder.scalar(value.convertToDouble(), type);
}

/// Per row of boolean `mask`, whether anything is shown.
static Value anyShown(NodeBuilder &builder, Value mask) {
  Value number = builder.cast(mask, builder.getBuilder().getF32Type());
  Value count = builder.reduceSum(number, tensorType(mask).getRank() - 1, /*keepdims=*/true);
  return builder.binary("Greater", count, builder.scalar(0, count.getType()));
}

/// Hides the scores where boolean `mask` is false.
static void hide(NodeBuilder &builder, Value mask, Masked &masked) {
  masked.scores = builder.where(mask, masked.scores, lowest(builder, masked.scores));
  if (showsAKeyPerRow(mask))
    return;
  Value shown = anyShown(builder, mask);
  masked.shown = masked.shown ? builder.binary("And", masked.shown, shown) : shown;
}

/// Adds a float mask; its infinities hide.
static void addMask(NodeBuilder &builder, Value mask, Masked &masked) {
  Value floor = lowest(builder, mask);
  masked.scores = builder.add(masked.scores, builder.binary("Max", mask, floor));
  Value shown = anyShown(builder, builder.binary("Greater", mask, floor));
  masked.shown = masked.shown ? builder.binary("And", masked.shown, shown) : shown;
}

static Masked applyMasks(onnx::NodeOp node, NodeBuilder &builder, Value scores) {
  ArrayRef<int64_t> shape = tensorType(scores).getShape();
  int64_t queries = shape[2], keys = shape[3];
  Masked masked{scores, nullptr};
  Value causal = node.getInt("is_causal", 0) ? causalMask(builder, queries, keys) : Value();
  if (!node.hasInput(3)) {
    if (causal)
      hide(builder, causal, masked);
    return masked;
  }
  Value mask = paddedMask(builder, node.getInputs()[3], keys);
  if (isFloat(mask))
    addMask(builder, mask, masked);
  else if (causal)
    mask = builder.binary("And", mask, causal);
  Value hidden = isFloat(mask) ? causal : mask;
  if (hidden)
    hide(builder, hidden, masked);
  return masked;
}

static Value probabilities(NodeBuilder &builder, const Masked &masked) {
  Value softmax = builder.softmax(masked.scores, -1);
  if (!masked.shown)
    return softmax;
  return builder.where(masked.shown, softmax, builder.scalar(0, softmax.getType()));
}

static LogicalResult expandAttention(onnx::NodeOp node, NodeBuilder &builder,
                                     SmallVectorImpl<Value> &results) {
  if (failed(refuseUnsupported(node)))
    return failure();
  Value query = splitHeads(builder, node.getInputs()[0], node.getInt("q_num_heads", 1));
  Value key = splitHeads(builder, node.getInputs()[1], node.getInt("kv_num_heads", 1));
  Value value = splitHeads(builder, node.getInputs()[2], node.getInt("kv_num_heads", 1));
  int64_t heads = tensorType(query).getDimSize(1), groups = tensorType(key).getDimSize(1);
  if (heads % groups)
    return nodeError(node) << "expected a multiple of " << groups << " query heads, got " << heads;
  key = repeatHeads(builder, key, heads / groups);
  value = repeatHeads(builder, value, heads / groups);
  double scale = node.getFloat("scale", 0);
  if (!node.getAttrs().contains("scale"))
    scale = 1 / std::sqrt(double(tensorType(query).getDimSize(3)));
  query = builder.mul(query, builder.scalar(scale, query.getType()));
  Value scores = contractNode(builder, query, key, false, /*transB=*/true);
  Value weights = probabilities(builder, applyMasks(node, builder, scores));
  Value mixed = contractNode(builder, weights, value, false, false);
  if (node.outputType(0).getRank() == 3)
    mixed = builder.reshape(builder.transpose(mixed, {0, 2, 1, 3}), node.outputType(0).getShape());
  results.push_back(mixed);
  // Results that nobody uses: any value of the right type will do.
  for (Value output : node.getOutputs().drop_front())
    results.push_back(isa<NoneType>(output.getType()) ? builder.none()
                                                      : builder.splat(0, tensorType(output)));
  return success();
}

void registerAttention() {
  registerOp({"", "Attention", 23, 23, Kind::Other, nullptr, nullptr, expandAttention});
}

} // namespace zero::ops
