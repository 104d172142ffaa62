//===- Functions.cpp - functions that nodes have no operator for ----------===//

#include "Rules.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace zero::hlo {

static Value num(Emitter &b, double value, Value like) { return b.number(value, elementOf(like)); }
static Value exp(Emitter &b, Value x) { return b.unary(op::Exp, x); }
static Value log(Emitter &b, Value x) { return b.unary(op::Log, x); }
static Value less(Emitter &b, Value x, double y) { return b.binary(op::Less, x, num(b, y, x)); }
static Value equals(Emitter &b, Value x, double y) { return b.binary(op::Equal, x, num(b, y, x)); }

static Value rsqrt(Emitter &b, Value x) { return b.unary(op::Reciprocal, b.unary(op::Sqrt, x)); }

/// The cube root, of the sign of x; x itself where it is 0.
static Value cbrt(Emitter &b, Value x) {
  Value size = b.binary(op::Pow, b.unary(op::Abs, x), num(b, 1.0 / 3, x));
  return b.where(equals(b, x, 0), x, b.mul(b.unary(op::Sign, x), size));
}

/// log(1 + x). The quotient corrects the rounding of 1 + x (Higham, Accuracy and Stability of
/// Numerical Algorithms, 1.14.1); where x is so large that 1 + x = x there is none.
static Value logPlusOne(Emitter &b, Value x) {
  Value one = num(b, 1, x), sum = b.add(x, one);
  Value corrected = b.mul(log(b, sum), b.div(x, b.sub(sum, one)));
  Value large = b.where(b.binary(op::Equal, sum, x), log(b, sum), corrected);
  return b.where(b.binary(op::Equal, sum, one), x, large);
}

/// exp(x) - 1. Elu is that for negative x; for positive x it is -exp(x) (exp(-x) - 1).
static Value expMinusOne(Emitter &b, Value x) {
  Value positive = b.neg(b.mul(exp(b, x), b.unary(op::Elu, b.neg(x))));
  return b.where(b.binary(op::Greater, x, num(b, 0, x)), positive, b.unary(op::Elu, x));
}

/// Rounds halves away from 0: where a half was rounded towards 0, one more.
static Value roundAway(Emitter &b, Value x) {
  Value rounded = b.unary(op::Round, x), rest = b.sub(x, rounded);
  Value isHalf = equals(b, b.unary(op::Abs, rest), 0.5);
  Value inward = b.binary(op::Equal, b.unary(op::Sign, rest), b.unary(op::Sign, x));
  return b.where(b.binary(op::And, isHalf, inward), b.add(rounded, b.unary(op::Sign, x)), rounded);
}

static Value square(Emitter &b, Value x) { return b.mul(x, x); }

/// 1 - erf(x) where that is exact, and for larger |x| the continued fraction's rational form: by
/// Chebyshev's polynomial in t = 2 / (2 + |x|) (Numerical Recipes, erfccheb, f32 coefficients).
static Value erfc(Emitter &b, Value x) {
  Value size = b.unary(op::Abs, x);
  Value t = b.div(num(b, 1, x), b.add(num(b, 1, x), b.mul(num(b, 0.5, x), size)));
  constexpr double coefficients[] = {0.17087277, -0.82215223, 1.48851587, -1.13520398,
                                     0.27886807, -0.18628806, 0.09678418, 0.37409196,
                                     1.00002368, -1.26551223};
  Value sum = num(b, coefficients[0], x);
  for (double coefficient : ArrayRef(coefficients).drop_front())
    sum = b.add(b.mul(sum, t), num(b, coefficient, x));
  Value tail = b.mul(t, exp(b, b.sub(sum, b.mul(size, size))));
  Value far = b.where(less(b, x, 0), b.sub(num(b, 2, x), tail), tail);
  return b.where(less(b, size, 1), b.sub(num(b, 1, x), b.unary(op::Erf, x)), far);
}

/// Evaluates a polynomial in `w`, highest power first.
static Value polynomial(Emitter &b, Value w, ArrayRef<double> coefficients) {
  Value sum = num(b, coefficients.front(), w);
  for (double coefficient : coefficients.drop_front())
    sum = b.add(b.mul(sum, w), num(b, coefficient, w));
  return sum;
}

/// The inverse of erf in f32 (Giles, Approximating the erfinv function, 2011): two polynomials in
/// w = -log(1 - x x).
static Value erfInverse(Emitter &b, Value x) {
  Value w = b.neg(logPlusOne(b, b.neg(b.mul(x, x))));
  Value isCentral = less(b, w, 5);
  Value central =
      polynomial(b, b.sub(w, num(b, 2.5, x)),
                 {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                  -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  Value tail = polynomial(b, b.sub(b.unary(op::Sqrt, w), num(b, 3, x)),
                          {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
                           0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  Value result = b.mul(b.where(isCentral, central, tail), x);
  Value infinity = num(b, std::numeric_limits<double>::infinity(), x);
  return b.where(equals(b, b.unary(op::Abs, x), 1), b.mul(x, infinity), result);
}

/// The angle of (x, y): the arctangent of the quotient, moved by half a turn where x is negative.
static Value atan2(Emitter &b, Value y, Value x) {
  constexpr double pi = llvm::numbers::pi;
  Value isNegative = less(b, y, 0);
  auto signedAngle = [&](double angle) {
    return b.where(isNegative, num(b, -angle, x), num(b, angle, x));
  };
  Value angle = b.unary(op::Atan, b.div(y, x));
  Value turned = b.where(less(b, x, 0), b.add(angle, signedAngle(pi)), angle);
  Value upright = b.where(equals(b, y, 0), num(b, 0, x), signedAngle(pi / 2));
  return b.where(equals(b, x, 0), upright, turned);
}

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

/// The same, with a polynomial that is exact for f32 only.
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
  results.push_back(atan2(b, op->getOperand(0), op->getOperand(1)));
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
  table["stablehlo.cbrt"] = rule<cbrt>;
  table["stablehlo.log_plus_one"] = rule<logPlusOne>;
  table["stablehlo.exponential_minus_one"] = rule<expMinusOne>;
  table["stablehlo.round_nearest_afz"] = rule<roundAway>;
  table["stablehlo.atan2"] = atan2Rule;
  table["chlo.next_after"] = nextAfterRule;
  table["chlo.square"] = squareRule;
  table["chlo.erf"] = rule<node<op::Erf>>;
  table["chlo.erfc"] = singleRule<erfc>;
  table["chlo.erf_inv"] = singleRule<erfInverse>;
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
