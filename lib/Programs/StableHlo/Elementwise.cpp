//===- Elementwise.cpp - elementwise arithmetic, comparisons, casts -------===//

#include "Rules.h"

#include "zero/Ops/CallAttrs.h"

#include <limits>

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

static bool isFloat(Value value) { return isa<FloatType>(elementOf(value)); }

/// The op has one node with the same operands, for all element types.
template <const onnx::Operator &type>
static LogicalResult sameNode(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  results.push_back(b.one(type, op->getResult(0).getType(), op->getOperands()));
  return success();
}

/// The same, but booleans have a node of their own.
template <const onnx::Operator &type, const onnx::Operator &logical>
static LogicalResult nodeOrLogic(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  const bool isLogic = isBool(elementOf(op->getOperand(0)));
  results.push_back(b.one(isLogic ? logical : type, op->getResult(0).getType(), op->getOperands()));
  return success();
}

/// The op has one node for floats only.
template <const onnx::Operator &type>
static LogicalResult floatNode(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  if (!isFloat(op->getOperand(0)))
    return b.refuse("expected floats");
  return sameNode<type>(op, b, results);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The operand that `op` returns unchanged for any value of it, because the other one is a
/// constant: a bound that is infinite, or a factor of 1. Null if there is none.
template <bool commutes>
static Value unchanged(Operation *op, Emitter &b, double neutral) {
  for (unsigned side : {1u, 0u})
    if ((side == 1 || commutes) && isFloat(op->getOperand(side)) &&
        b.splatOf(op->getOperand(side)) == neutral)
      return op->getOperand(1 - side);
  return {};
}

/// JAX begins each maximum at minus infinity.
template <const onnx::Operator &type, const onnx::Operator &logical, bool isMaximum>
static LogicalResult extreme(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (Value same = unchanged<true>(op, b, isMaximum ? -infinity : infinity)) {
    results.push_back(same);
    return success();
  }
  return nodeOrLogic<type, logical>(op, b, results);
}

static LogicalResult multiply(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  if (Value same = unchanged<true>(op, b, 1)) {
    results.push_back(same);
    return success();
  }
  return nodeOrLogic<op::Mul, op::And>(op, b, results);
}

static LogicalResult subtract(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  if (isBool(elementOf(op->getOperand(0))))
    return b.refuse("expected numbers");
  results.push_back(b.sub(op->getOperand(0), op->getOperand(1)));
  return success();
}

static LogicalResult divide(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  if (isBool(elementOf(x)))
    return b.refuse("expected numbers");
  if (Value same = unchanged<false>(op, b, 1)) {
    results.push_back(same);
    return success();
  }
  Value quotient = b.div(x, y);
  // An integer divided by 0 is all ones.
  if (!isFloat(x) && !b.constantOf(y))
    quotient = b.where(b.binary(op::Equal, y, b.number(0, elementOf(y))),
                       b.number(-1, elementOf(y)), quotient);
  results.push_back(quotient);
  return success();
}

/// The remainder has the sign of the dividend.
static LogicalResult remainder(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  if (isBool(elementOf(x)))
    return b.refuse("expected numbers");
  Value rest = b.one(op::Mod, x.getType(), {x, y}, b.attr("fmod", int64_t(1)));
  if (!isFloat(x) && !b.constantOf(y))
    rest = b.where(b.binary(op::Equal, y, b.number(0, elementOf(y))), x, rest);
  results.push_back(rest);
  return success();
}

/// Whether `value` is the square of floats, which is never -0.
static bool isSquare(Value value) {
  auto node = value.getDefiningOp<onnx::NodeOp>();
  return node && node.is(op::Mul) && isFloat(value) && node.getInputs()[0] == node.getInputs()[1];
}

/// The square of a complex number without imaginary part adds 0, which would hide a sum of squares.
static LogicalResult add(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  if (isSquare(x) && b.splatOf(y) == 0) {
    results.push_back(x);
    return success();
  }
  return nodeOrLogic<op::Add, op::Or>(op, b, results);
}

static LogicalResult negate(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op->getOperand(0);
  if (isBool(elementOf(x)))
    return b.refuse("expected numbers");
  results.push_back(elementOf(x).isUnsignedInteger() ? b.sub(b.number(0, elementOf(x)), x)
                                                     : b.neg(x));
  return success();
}

static LogicalResult absolute(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op->getOperand(0);
  if (isBool(elementOf(x)))
    return b.refuse("expected numbers");
  // JAX selects x where it is not negative, so the derivative at zero is 1.
  if (isFloat(x))
    results.push_back(b.one(op::Abs, x.getType(), x, b.attr(ops::kSlopeAtZero, 1.0)));
  else
    results.push_back(elementOf(x).isUnsignedInteger() ? x : b.unary(op::Abs, x));
  return success();
}

static LogicalResult sign(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op->getOperand(0);
  if (isBool(elementOf(x)))
    return b.refuse("expected numbers");
  Type element = elementOf(x);
  results.push_back(element.isUnsignedInteger()
                        ? b.cast(b.cast(x, b.getBuilder().getI1Type()), element)
                        : b.unary(op::Sign, x));
  return success();
}

/// min(max(x, low), high), with gradients only where x is strictly on one side of both bounds.
static Value clampOfTensors(Emitter &b, Value low, Value x, Value high) {
  Value clamped = b.binary(op::Min, b.binary(op::Max, x, low), high);
  Value stopped = b.one(own::StopGradient, x.getType(), clamped);
  Value inside = b.binary(op::And, b.binary(op::Less, low, x), b.binary(op::Less, x, high));
  Value below = b.binary(op::And, b.binary(op::Less, x, low), b.binary(op::Less, low, high));
  Value rest = b.where(below, low, b.where(inside, x, stopped));
  return b.where(b.binary(op::Greater, x, high), high, rest);
}

static LogicalResult clamp(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value low = op->getOperand(0), x = op->getOperand(1), high = op->getOperand(2);
  for (Value bound : {low, high})
    if (elementOf(bound) != elementOf(x) ||
        (bound.getType() != x.getType() && !shapeOf(bound).empty()))
      return b.refuse("expected bounds that are scalars or have the type of the operand");
  // JAX's clamp of floats gives no gradient at a bound, which minimum and maximum share.
  if (isFloat(x) && shapeOf(low).empty() && shapeOf(high).empty())
    results.push_back(b.one({"", "Clip"}, x.getType(), {x, low, high}));
  else if (isFloat(x))
    results.push_back(clampOfTensors(b, low, x, high));
  else
    results.push_back(b.binary(op::Min, b.binary(op::Max, x, low), high));
  return success();
}

//===----------------------------------------------------------------------===//
// Comparisons and selections
//===----------------------------------------------------------------------===//

static onnx::Operator comparisonOf(ComparisonDirection direction) {
  switch (direction) {
  case ComparisonDirection::GE:
    return op::GreaterOrEqual;
  case ComparisonDirection::GT:
    return op::Greater;
  case ComparisonDirection::LE:
    return op::LessOrEqual;
  case ComparisonDirection::LT:
    return op::Less;
  case ComparisonDirection::EQ:
  case ComparisonDirection::NE:
    break;
  }
  return op::Equal;
}

/// Integers in IEEE 754's total order of floats: their bits, of which those behind the sign are
/// inverted for negative floats.
static Value totalOrder(Emitter &b, Value x) {
  if (elementOf(x).getIntOrFloatBitWidth() == 16)
    x = b.cast(x, b.getBuilder().getF32Type());
  const unsigned width = elementOf(x).getIntOrFloatBitWidth();
  Type integer = b.getBuilder().getIntegerType(width);
  auto scalar = RankedTensorType::get({}, integer);
  Value bits = b.bitcast(x, integer);
  Value isNegative = b.binary(op::Less, bits, b.number(0, integer));
  Value behindSign = b.integers(scalar, APInt::getSignedMaxValue(width).getSExtValue());
  return b.where(isNegative, b.binary(op::BitwiseXor, bits, behindSign), bits);
}

static LogicalResult compare(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  auto comparison = cast<CompareOp>(op);
  Value x = comparison.getLhs(), y = comparison.getRhs();
  if (comparison.getCompareType() == ComparisonType::TOTALORDER && isFloat(x)) {
    x = totalOrder(b, x);
    y = totalOrder(b, y);
  }
  const ComparisonDirection direction = comparison.getComparisonDirection();
  const bool tests = direction == ComparisonDirection::EQ || direction == ComparisonDirection::NE;
  // Nodes order no booleans.
  if (isBool(elementOf(x)) && !tests) {
    x = b.cast(x, b.getBuilder().getI32Type());
    y = b.cast(y, b.getBuilder().getI32Type());
  }
  Value result = b.binary(comparisonOf(direction), x, y);
  results.push_back(direction == ComparisonDirection::NE ? b.logicalNot(result) : result);
  return success();
}

static LogicalResult select(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value condition = op->getOperand(0), x = op->getOperand(1), y = op->getOperand(2);
  if (!isBool(elementOf(condition)) || x.getType() != y.getType() ||
      (shapeOf(condition) != shapeOf(x) && !shapeOf(condition).empty()))
    return b.refuse("expected a condition for each element, or one for all");
  results.push_back(b.where(condition, x, y));
  return success();
}

static LogicalResult isFinite(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op->getOperand(0);
  if (!isFloat(x))
    return b.refuse("expected floats");
  results.push_back(b.logicalNot(b.binary(op::Or, b.unary(op::IsNaN, x), b.unary(op::IsInf, x))));
  return success();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static LogicalResult convert(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  results.push_back(b.cast(op->getOperand(0), elementOf(op->getResult(0))));
  return success();
}

/// Rounds to a 16-bit type and back.
static LogicalResult reducePrecision(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  auto reduce = cast<ReducePrecisionOp>(op);
  Value x = reduce.getOperand();
  const uint32_t exponent = reduce.getExponentBits(), mantissa = reduce.getMantissaBits();
  Type narrow;
  if (exponent == 8 && mantissa == 7)
    narrow = b.getBuilder().getBF16Type();
  else if (exponent == 5 && mantissa == 10)
    narrow = b.getBuilder().getF16Type();
  else if (exponent == 8 && mantissa == 23)
    narrow = b.getBuilder().getF32Type();
  if (!narrow || !isFloat(x))
    return b.refuse("expected the precision of bf16, f16 or f32, got " + Twine(exponent) +
                    " bits of exponent and " + Twine(mantissa) + " of mantissa");
  const bool narrows = narrow.getIntOrFloatBitWidth() < elementOf(x).getIntOrFloatBitWidth();
  results.push_back(narrows ? b.cast(b.cast(x, narrow), elementOf(x)) : x);
  return success();
}

void addElementwiseRules(RuleTable &table) {
  table["stablehlo.add"] = add;
  table["stablehlo.multiply"] = multiply;
  table["stablehlo.maximum"] = extreme<op::Max, op::Or, true>;
  table["stablehlo.minimum"] = extreme<op::Min, op::And, false>;
  table["stablehlo.subtract"] = subtract;
  table["stablehlo.divide"] = divide;
  table["stablehlo.remainder"] = remainder;
  table["stablehlo.power"] = sameNode<op::Pow>;
  table["stablehlo.negate"] = negate;
  table["stablehlo.abs"] = absolute;
  table["stablehlo.sign"] = sign;
  table["stablehlo.clamp"] = clamp;
  table["stablehlo.ceil"] = floatNode<op::Ceil>;
  table["stablehlo.floor"] = floatNode<op::Floor>;
  table["stablehlo.round_nearest_even"] = floatNode<op::Round>;
  table["stablehlo.exponential"] = floatNode<op::Exp>;
  table["stablehlo.log"] = floatNode<op::Log>;
  table["stablehlo.logistic"] = floatNode<op::Sigmoid>;
  table["stablehlo.cosine"] = floatNode<op::Cos>;
  table["stablehlo.sine"] = floatNode<op::Sin>;
  table["stablehlo.sqrt"] = floatNode<op::Sqrt>;
  table["stablehlo.tan"] = floatNode<op::Tan>;
  table["stablehlo.tanh"] = floatNode<op::Tanh>;
  table["stablehlo.compare"] = compare;
  table["stablehlo.select"] = select;
  table["stablehlo.is_finite"] = isFinite;
  table["stablehlo.convert"] = convert;
  table["stablehlo.reduce_precision"] = reducePrecision;
}

} // namespace zero::hlo
