//===- Functions.cpp - functions that nodes have no operator for ----------===//

#include "Rules.h"

using namespace mlir;

namespace zero::hlo {

static Value num(Emitter &b, double value, Value like) { return b.number(value, elementOf(like)); }
static Value equals(Emitter &b, Value x, double y) { return b.binary(op::Equal, x, num(b, y, x)); }

static Value rsqrt(Emitter &b, Value x) { return b.unary(op::Reciprocal, b.unary(op::Sqrt, x)); }

/// Rounds halves away from 0: where a half was rounded towards 0, one more.
static Value roundAway(Emitter &b, Value x) {
  Value rounded = b.unary(op::Round, x), rest = b.sub(x, rounded);
  Value isHalf = equals(b, b.unary(op::Abs, rest), 0.5);
  Value inward = b.binary(op::Equal, b.unary(op::Sign, rest), b.unary(op::Sign, x));
  return b.where(b.binary(op::And, isHalf, inward), b.add(rounded, b.unary(op::Sign, x)), rounded);
}

static Value square(Emitter &b, Value x) { return b.mul(x, x); }

/// The float next to x in the direction of y: one bit more where that is away from 0, else less.
static Value nextAfter(Emitter &b, Value x, Value y) {
  Type integer = b.getBuilder().getIntegerType(elementOf(x).getIntOrFloatBitWidth());
  Value bits = b.bitcast(x, integer), zero = num(b, 0, x);
  Value grows =
      b.logicalNot(b.binary(op::Xor, b.binary(op::Less, x, y), b.binary(op::Greater, x, zero)));
  Value step = b.where(grows, b.number(1, integer), b.number(-1, integer));
  Value moved = b.bitcast(b.add(bits, step), elementOf(x));
  // The smallest float, with the sign of y.
  Value least = b.bitcast(b.number(1, integer), elementOf(x));
  Value fromZero = b.where(b.binary(op::Less, y, zero), b.neg(least), least);
  Value result = b.where(b.binary(op::Equal, x, zero), fromZero, moved);
  result = b.where(b.binary(op::Equal, x, y), y, result);
  Value isNaN = b.binary(op::Or, b.unary(op::IsNaN, x), b.unary(op::IsNaN, y));
  return b.where(isNaN, b.add(x, y), result);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Functions of 16-bit floats are computed in f32.
template <Value (*function)(Emitter &, Value)>
static LogicalResult rule(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op->getOperand(0);
  Type element = elementOf(x);
  if (!isa<FloatType>(element))
    return b.refuse("expected floats");
  if (element.getIntOrFloatBitWidth() == 16)
    x = b.cast(x, b.getBuilder().getF32Type());
  results.push_back(b.cast(function(b, x), element));
  return success();
}

/// The same, of a function that is exact for f32 only.
template <Value (*function)(Emitter &, Value)>
static LogicalResult singleRule(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  if (elementOf(op->getOperand(0)).isF64())
    return b.refuse("expected floats of at most 32 bits");
  return rule<function>(op, b, results);
}

template <const onnx::Operator &type>
static Value node(Emitter &b, Value x) {
  return b.unary(type, x);
}

static LogicalResult squareRule(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  results.push_back(square(b, op->getOperand(0)));
  return success();
}

static LogicalResult atan2Rule(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  if (!isa<FloatType>(elementOf(op->getOperand(0))))
    return b.refuse("expected floats");
  results.push_back(b.binary(own::Atan2, op->getOperand(0), op->getOperand(1)));
  return success();
}

static LogicalResult nextAfterRule(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Type element = elementOf(op->getOperand(0));
  if (!element.isF32() && !element.isF64())
    return b.refuse("expected floats of 32 or 64 bits");
  results.push_back(nextAfter(b, op->getOperand(0), op->getOperand(1)));
  return success();
}

/// Whether a float is infinite, of the signs that are asked for.
template <bool positive, bool negative>
static LogicalResult isInfinite(Operation *op, Emitter &b, SmallVectorImpl<Value> &results) {
  Value x = op->getOperand(0);
  if (!isa<FloatType>(elementOf(x)))
    return b.refuse("expected floats");
  results.push_back(b.one(op::IsInf, op->getResult(0).getType(), x,
                          {b.attr("detect_negative", int64_t(negative)),
                           b.attr("detect_positive", int64_t(positive))}));
  return success();
}

void addFunctionRules(RuleTable &table) {
  table["stablehlo.rsqrt"] = rule<rsqrt>;
  table["stablehlo.cbrt"] = rule<node<own::Cbrt>>;
  table["stablehlo.log_plus_one"] = rule<node<own::Log1p>>;
  table["stablehlo.exponential_minus_one"] = rule<node<own::Expm1>>;
  table["stablehlo.round_nearest_afz"] = rule<roundAway>;
  table["stablehlo.atan2"] = atan2Rule;
  table["chlo.next_after"] = nextAfterRule;
  table["chlo.square"] = squareRule;
  table["chlo.erf"] = rule<node<op::Erf>>;
  table["chlo.erfc"] = rule<node<own::Erfc>>;
  table["chlo.erf_inv"] = singleRule<node<own::ErfInv>>;
  table["chlo.tan"] = rule<node<op::Tan>>;
  table["chlo.sinh"] = rule<node<op::Sinh>>;
  table["chlo.cosh"] = rule<node<op::Cosh>>;
  table["chlo.asin"] = rule<node<op::Asin>>;
  table["chlo.acos"] = rule<node<op::Acos>>;
  table["chlo.atan"] = rule<node<op::Atan>>;
  table["chlo.asinh"] = rule<node<op::Asinh>>;
  table["chlo.acosh"] = rule<node<op::Acosh>>;
  table["chlo.atanh"] = rule<node<op::Atanh>>;
  table["chlo.is_inf"] = isInfinite<true, true>;
  table["chlo.is_pos_inf"] = isInfinite<true, false>;
  table["chlo.is_neg_inf"] = isInfinite<false, true>;
}

} // namespace zero::hlo
