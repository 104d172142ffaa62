//===- Attention.cpp ------------------------------------------------------===//
//
// ONNX: Attention; opset 23. Queries, keys and values with 3 or 4 dimensions,
// grouped heads, a boolean or float mask, is_causal, scale, softcap, a cache of
// past keys and values, and each form of qk_matmul_output. A row whose keys are
// all masked gives zeros.
//
// It expands to zero::Attention (AttentionCore.cpp); with softcap, another
// softmax_precision, or where somebody reads qk_matmul_output, to products and a
// softmax.
//
//===----------------------------------------------------------------------===//

#include "AttentionCore.h"
#include "Movement.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace zero::ops {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
/// One node under expansion: queries, keys and values as [batch, heads, sequence,
/// width], the cache included.
struct Expansion {
  onnx::NodeOp node;
  NodeBuilder &builder;
  Value query, key, value;
  double scale = 1;
  int64_t past = 0; ///< keys that come before the first query's

  LogicalResult read();
  /// The mask over all keys, or null.
  Value mask();
  /// `scores` with both masks added.
  Value biased(Value scores);
  /// Which keys each query sees by is_causal, as [queries, keys].
  Value causalMask();
  Value composite();
  FailureOr<Value> primitives(Value &inspected);
};
} // namespace

/// Queries, keys or values as [batch, heads, sequence, width].
static FailureOr<Value> splitHeads(Expansion &in, unsigned operand, StringRef count) {
  Value value = in.node.getInputs()[operand];
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  if (shape.size() == 4)
    return value;
  int64_t heads = in.node.getInt(count, 0);
  if (shape.size() != 3 || heads <= 0 || shape[2] % heads)
    return nodeError(in.node) << "expected 4 dimensions, or 3 of which the last is a multiple of '"
                              << count << "', got " << tensorType(value) << " and " << heads;
  Value split = in.builder.reshape(value, {shape[0], shape[1], heads, shape[2] / heads});
  return in.builder.transpose(split, {0, 2, 1, 3});
}

/// `value` behind the cache of operand `index`, if there is one.
static Value withPast(Expansion &in, Value value, unsigned index) {
  if (!in.node.hasInput(index))
    return value;
  SmallVector<int64_t> shape(tensorType(value).getShape());
  in.past = in.node.inputType(index).getDimSize(2);
  shape[2] += in.past;
  return in.builder
      .create(op::Concat, tensorType(value).clone(shape), {in.node.getInputs()[index], value},
              in.builder.attr("axis", int64_t(2)))
      .getResult(0);
}

LogicalResult Expansion::read() {
  if (node.hasInput(4) != node.hasInput(5))
    return nodeError(node) << "expected 'past_key' and 'past_value' together";
  auto q = splitHeads(*this, 0, "q_num_heads");
  auto k = splitHeads(*this, 1, "kv_num_heads");
  auto v = splitHeads(*this, 2, "kv_num_heads");
  if (failed(q) || failed(k) || failed(v))
    return failure();
  query = *q;
  key = withPast(*this, *k, 4);
  value = withPast(*this, *v, 5);
  scale = node.getAttrs().contains("scale")
              ? node.getFloat("scale", 1)
              : 1 / std::sqrt(double(tensorType(query).getDimSize(3)));
  return success();
}

Value Expansion::mask() {
  if (!node.hasInput(3))
    return nullptr;
  // A mask shorter than the keys hides those that it does not speak of.
  Value given = node.getInputs()[3];
  RankedTensorType type = tensorType(given);
  int64_t missing = tensorType(key).getDimSize(2) - type.getShape().back();
  if (missing == 0)
    return given;
  SmallVector<int64_t> pads(2 * type.getRank(), 0), shape(type.getShape());
  pads.back() = missing;
  shape.back() += missing;
  Value hidden = builder.scalar(isFloat(given) ? -kInfinity : 0, type);
  return builder.create(op::Pad, type.clone(shape), {given, builder.indices(pads), hidden})
      .getResult(0);
}

Value Expansion::causalMask() {
  auto type =
      RankedTensorType::get({tensorType(query).getDimSize(2), tensorType(key).getDimSize(2)},
                            builder.getBuilder().getI1Type());
  Value diagonal =
      builder.splat(double(past), RankedTensorType::get({}, builder.getBuilder().getI64Type()));
  return builder
      .create(op::Trilu, type, {builder.splat(1, type), diagonal},
              builder.attr("upper", int64_t(0)))
      .getResult(0);
}

Value Expansion::biased(Value scores) {
  auto add = [&](Value mask) {
    Value hidden = builder.scalar(-kInfinity, scores.getType());
    Value bias =
        isFloat(mask) ? mask : builder.where(mask, builder.scalar(0, scores.getType()), hidden);
    scores = builder.add(scores, bias);
  };
  if (Value given = mask())
    add(given);
  if (node.getInt("is_causal", 0))
    add(causalMask());
  return scores;
}

Value Expansion::composite() {
  SmallVector<Value> inputs{query, key, value, builder.none(), builder.none()};
  if (Value given = mask())
    inputs[4] = given;
  return createAttention(builder, inputs,
                         {builder.attr("scale", scale),
                          builder.attr("causal", node.getInt("is_causal", 0)),
                          builder.attr("offset", past), builder.attr("fill", -kInfinity),
                          builder.attr("guard", int64_t(1))})
      .getResult(0);
}

/// TensorProto::DataType of softmax_precision as a type; null: as the scores are.
static FailureOr<Type> softmaxType(onnx::NodeOp node, Builder builder) {
  switch (int64_t type = node.getInt("softmax_precision", 0)) {
  case 0:
    return Type();
  case 1:
    return Type(builder.getF32Type());
  case 10:
    return Type(builder.getF16Type());
  case 11:
    return Type(builder.getF64Type());
  case 16:
    return Type(builder.getBF16Type());
  default:
    return nodeError(node) << "expected a float type as softmax_precision, got " << type;
  }
}

FailureOr<Value> Expansion::primitives(Value &inspected) {
  int64_t mode = node.getInt("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    return nodeError(node) << "expected qk_matmul_output_mode in [0, 3], got " << mode;
  FailureOr<Type> precision = softmaxType(node, builder.getBuilder());
  if (failed(precision))
    return failure();
  Value raw = scoresNode(builder, query, key);
  raw = builder.mul(raw, builder.scalar(scale, raw.getType()));
  Value capped = raw;
  if (double cap = node.getFloat("softcap", 0); cap > 0) {
    Value limit = builder.scalar(cap, raw.getType());
    capped = builder.mul(builder.unary(op::Tanh, builder.div(raw, limit)), limit);
  }
  Value scores = biased(capped);
  Type element = tensorType(scores).getElementType();
  Value exact = builder.cast(scores, *precision ? *precision : element);
  Value weights =
      builder.create(own::MaskedSoftmax, exact.getType(), exact, builder.attr("guard", int64_t(1)))
          .getResult(0);
  weights = builder.cast(weights, element);
  inspected = std::array<Value, 4>{raw, capped, scores, weights}[mode];
  return mixNode(builder, weights, value);
}

static LogicalResult expandAttention(onnx::NodeOp node, NodeBuilder &builder,
                                     SmallVectorImpl<Value> &results) {
  Expansion in{node, builder, {}, {}, {}};
  if (failed(in.read()))
    return failure();
  if (failed(
          checkHeads(node, tensorType(in.query).getDimSize(1), tensorType(in.key).getDimSize(1))))
    return failure();
  Value inspected, mixed;
  bool isInspected = node.getNumResults() > 3 && !node.getResult(3).use_empty();
  if (isInspected || node.getFloat("softcap", 0) > 0 || node.getInt("softmax_precision", 0)) {
    FailureOr<Value> made = in.primitives(inspected);
    if (failed(made))
      return failure();
    mixed = *made;
  } else {
    mixed = in.composite();
  }
  if (node.outputType(0).getRank() == 3)
    mixed = builder.reshape(builder.transpose(mixed, {0, 2, 1, 3}), node.outputType(0).getShape());
  std::array<Value, 4> made{mixed, in.key, in.value, inspected};
  for (auto [index, output] : llvm::enumerate(node.getOutputs())) {
    // Only the type of an unused result matters.
    bool isNone = isa<NoneType>(output.getType());
    results.push_back(isNone ? builder.none()
                             : (made[index] ? made[index] : builder.splat(0, tensorType(output))));
  }
  return success();
}

void registerAttention() {
  registerOp(OpDef{op::Attention, 23, 23, Kind::Other, nullptr, nullptr, expandAttention}.operand(
      3, OperandRole::Scores));
}

} // namespace zero::ops
