//===- Random.cpp - random tensors ----------------------------------------===//
//
// ONNX: RandomUniform, RandomNormal, their Like forms, Bernoulli, Multinomial. They are
// expanded to
//
//   zero.RandomUniform(key, part) {low, high}   -> numbers of [low, high)
//   zero.RandomNormal(key, part) {mean, scale}  -> normal numbers, by Box and Muller
//
// of f32 or f64, where the key is a zero.RandomKey: see Philox.h. A uniform number takes
// 24 bits of the first word, in f64 53 bits of the first two; a normal one takes the
// words 0 and 1, in f64 0 to 3:
//
//   mean + scale sqrt(-2 log((a + 1) / 2^32)) cos(2 pi floor(b / 2^8) / 2^24).
//
// Bernoulli is 1 where a uniform number is below the probability. ONNX's own function
// body compares the other way, against what it says of the operator. Multinomial takes,
// for a uniform number u, the first class at which the running sum of probabilities
// exceeds u times their sum.
//
// None has a training flag: they draw in an evaluation, too. None has a gradient.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "Philox.h"
#include "Trigonometry.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace zero::ops {

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

/// Numbers of `shape` that `type` draws for `node`: of f32, unless `like` is f64.
static Value draw(onnx::NodeOp node, NodeBuilder &nodes, onnx::Operator type,
                  ArrayRef<int64_t> shape, Type like, ArrayRef<NamedAttribute> attrs) {
  Builder &builder = nodes.getBuilder();
  Type element = like.isF64() ? like : builder.getF32Type();
  // The attribute of these operators is a float, any of which may be a seed.
  Value key = randomKey(node, llvm::bit_cast<uint32_t>(float(node.getFloat("seed", 0))), nodes);
  return nodes
      .create(type, RankedTensorType::get(shape, element),
              {key, nodes.programInput(kBatchPart, builder.getI64Type())}, attrs)
      .getResult(0);
}

static Value drawUniform(onnx::NodeOp node, NodeBuilder &nodes, ArrayRef<int64_t> shape, Type like,
                         double low = 0, double high = 1) {
  return draw(node, nodes, own::RandomUniform, shape, like,
              {nodes.attr("low", low), nodes.attr("high", high)});
}

static LogicalResult expandUniform(onnx::NodeOp node, NodeBuilder &nodes,
                                   SmallVectorImpl<Value> &results) {
  double low = node.getFloat("low", 0), high = node.getFloat("high", 1);
  if (!(low <= high) || !std::isfinite(float(high) - float(low)))
    return nodeError(node) << "expected finite bounds, low at most high, got low " << low
                           << " and high " << high;
  RankedTensorType type = node.outputType(0);
  results.push_back(drawUniform(node, nodes, type.getShape(), type.getElementType(), low, high));
  return success();
}

static LogicalResult expandNormal(onnx::NodeOp node, NodeBuilder &nodes,
                                  SmallVectorImpl<Value> &results) {
  double mean = node.getFloat("mean", 0), scale = node.getFloat("scale", 1);
  if (!std::isfinite(mean) || !std::isfinite(scale) || scale < 0)
    return nodeError(node) << "expected a finite mean and a scale of at least 0, got mean " << mean
                           << " and scale " << scale;
  RankedTensorType type = node.outputType(0);
  results.push_back(draw(node, nodes, own::RandomNormal, type.getShape(), type.getElementType(),
                         {nodes.attr("mean", mean), nodes.attr("scale", scale)}));
  return success();
}

static LogicalResult expandBernoulli(onnx::NodeOp node, NodeBuilder &nodes,
                                     SmallVectorImpl<Value> &results) {
  RankedTensorType type = node.inputType(0);
  Value uniform = drawUniform(node, nodes, type.getShape(), type.getElementType());
  Value probability = nodes.cast(node.getInputs()[0], tensorType(uniform).getElementType());
  results.push_back(nodes.cast(nodes.binary(op::Less, uniform, probability),
                               tensorType(node.getOutputs()[0]).getElementType()));
  return success();
}

static LogicalResult expandMultinomial(onnx::NodeOp node, NodeBuilder &nodes,
                                       SmallVectorImpl<Value> &results) {
  int64_t rows = node.inputType(0).getDimSize(0), classes = node.inputType(0).getDimSize(1);
  int64_t samples = node.getInt("sample_size", 1);
  if (samples < 1 || classes < 1)
    return nodeError(node) << "expected at least one class and a sample_size of at least 1, got "
                           << classes << " and " << samples;
  Value uniform = drawUniform(node, nodes, {rows, samples}, node.inputType(0).getElementType());
  Type element = tensorType(uniform).getElementType();
  Value weights = nodes.softmax(nodes.cast(node.getInputs()[0], element), 1);
  Value axis = nodes.scalar(1, nodes.getBuilder().getI64Type());
  Value sums = nodes.create(op::CumSum, weights.getType(), {weights, axis}).getResult(0);
  Value limit = nodes.mul(uniform, sliceNode(nodes, sums, 1, classes - 1, classes));
  Value below = nodes.binary(op::LessOrEqual, nodes.reshape(sums, {rows, 1, classes}),
                             nodes.reshape(limit, {rows, samples, 1}));
  Type integer = tensorType(node.getOutputs()[0]).getElementType();
  Value count = nodes.reduceSum(nodes.cast(below, integer), {2}, /*keepdims=*/false);
  // If the scores are NaN or all minus infinity, no class is found.
  results.push_back(nodes.binary(op::Min, count, nodes.scalar(double(classes - 1), integer)));
  return success();
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// The upper `bits` of word `index` of `words`, or of the 64 bits from it on where they are
/// more than 32, as an integer below 2^bits.
static Value upperBits(ImplicitLocOpBuilder &b, ArrayRef<Value> words, unsigned index,
                       unsigned bits) {
  if (bits <= 32)
    return arith::ShRUIOp::create(
        b, words[index], arith::ConstantIntOp::create(b, b.getI32Type(), 32 - bits).getResult());
  Type i64 = b.getI64Type();
  auto shift = [&](int64_t by) { return arith::ConstantIntOp::create(b, i64, by).getResult(); };
  Value high = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i64, words[index]), shift(32));
  Value both = arith::OrIOp::create(b, high, arith::ExtUIOp::create(b, i64, words[index + 1]));
  return arith::ShRUIOp::create(b, both, shift(64 - bits));
}

/// A number of [0, 1) from word `index` on: 24 bits of one word, or 53 of two.
static Value unitNumber(ImplicitLocOpBuilder &b, ArrayRef<Value> words, unsigned index, Type type) {
  unsigned bits = type.isF64() ? 53 : 24;
  // Signed, which is as good for so few bits and faster.
  Value drawn = arith::SIToFPOp::create(b, type, upperBits(b, words, index, bits));
  return arith::MulFOp::create(b, drawn, constant(b, type, std::ldexp(1.0, -int(bits))));
}

/// A number of (0, 1] from word `index` on, all of whose bits count: its logarithm is
/// that of the farthest normal numbers.
static Value positiveNumber(ImplicitLocOpBuilder &b, ArrayRef<Value> words, unsigned index,
                            Type type) {
  unsigned bits = type.isF64() ? 53 : 32;
  Value drawn = arith::UIToFPOp::create(b, type, upperBits(b, words, index, bits));
  Value above = arith::AddFOp::create(b, drawn, constant(b, type, 1));
  return arith::MulFOp::create(b, above, constant(b, type, std::ldexp(1.0, -int(bits))));
}

/// The largest number of `type` below `high`.
static double below(double high, Type type) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return type.isF64() ? std::nextafter(high, -kInfinity)
                      : std::nextafterf(float(high), -float(kInfinity));
}

/// Computes each element of `node`'s result by `body` from the words of the element.
static void lowerDraws(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder, Lowered &lowered,
                       llvm::function_ref<Value(ImplicitLocOpBuilder &, ArrayRef<Value>)> body) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType type = node.outputType(0);
  lowered.results.push_back(
      elementwise(b, ValueRange(), type, [&](ImplicitLocOpBuilder &s, ValueRange) {
        return body(s, drawWords(s, type, inputs[0], inputs[1]));
      }));
}

static LogicalResult lowerUniform(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                  Lowered &lowered) {
  Type type = node.outputType(0).getElementType();
  double low = node.getFloat("low", 0), high = node.getFloat("high", 1);
  double range = type.isF64() ? high - low : double(float(high) - float(low));
  lowerDraws(node, inputs, builder, lowered, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> words) {
    Value unit = unitNumber(b, words, 0, type);
    if (low == 0 && range == 1)
      return unit;
    Value value = arith::MulFOp::create(b, unit, constant(b, type, range));
    value = arith::AddFOp::create(b, value, constant(b, type, low));
    if (range == 0)
      return value;
    // Rounding may give `high` itself.
    return arith::MinimumFOp::create(b, value, constant(b, type, below(high, type))).getResult();
  });
  return success();
}

static LogicalResult lowerNormal(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  Type type = node.outputType(0).getElementType();
  double mean = node.getFloat("mean", 0), scale = node.getFloat("scale", 1);
  lowerDraws(node, inputs, builder, lowered, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> words) {
    auto number = [&](double value) { return constant(b, type, value); };
    Value log = math::LogOp::create(b, positiveNumber(b, words, 0, type));
    Value radius = math::SqrtOp::create(b, arith::MulFOp::create(b, log, number(-2)));
    Value turn = unitNumber(b, words, type.isF64() ? 2 : 1, type);
    Value angle = arith::MulFOp::create(b, turn, number(2 * llvm::numbers::pi));
    Value value = arith::MulFOp::create(b, radius, cosineOfTurn(b, angle));
    value = arith::MulFOp::create(b, value, number(scale));
    return arith::AddFOp::create(b, value, number(mean)).getResult();
  });
  return success();
}

/// An operator of ONNX that is expanded.
static OpDef expanded(onnx::Operator type, int64_t minOpset, ExpandFn expand) {
  return {type, minOpset, kNewestOpset, Kind::Other, nullptr, nullptr, expand};
}

void registerRandom() {
  registerOp(expanded(op::RandomUniform, 1, expandUniform));
  registerOp(expanded(op::RandomUniformLike, 1, expandUniform));
  registerOp(expanded(op::RandomNormal, 1, expandNormal));
  registerOp(expanded(op::RandomNormalLike, 1, expandNormal));
  registerOp(expanded(op::Bernoulli, 15, expandBernoulli));
  registerOp(expanded(op::Multinomial, 7, expandMultinomial));
  // Rounded to 16 bits fewer than 24 would be compared with a probability.
  registerOp(OpDef{own::RandomUniform, 1, 1, Kind::Other, lowerUniform}.keepsWide());
  registerOp({own::RandomNormal, 1, 1, Kind::Other, lowerNormal});
}

} // namespace zero::ops
