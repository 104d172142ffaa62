//===- Pow.cpp - powers ---------------------------------------------------===//
//
// ONNX Pow (opset 13, 15): NumPy broadcasting, the result has the base's type. A
// constant exponent that is a small multiple of one half becomes products,
// square roots and one division; the others are exp(b log |a|), with the sign of an
// odd integer power, or, for integers, products by squaring.
//
// Gradient, y = a ^ b: da = dy b a^(b - 1), db = dy y log a where a > 0, else 0
// (0 for b = 0 and a <= 0, where the limit doesn't exist: as PyTorch has it).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;

namespace zero::ops {

// Longer chains of products are no more exact than exp and log.
static constexpr double kMaxChain = 8;

static Value product(ImplicitLocOpBuilder &b, Value a, Value c) {
  if (isa<FloatType>(a.getType()))
    return arith::MulFOp::create(b, a, c);
  return arith::MulIOp::create(b, a, c);
}

/// base ^ exponent by squaring.
static Value chain(ImplicitLocOpBuilder &b, Value base, int64_t exponent) {
  Value result;
  for (Value square = base;; square = product(b, square, square)) {
    if (exponent & 1)
      result = result ? product(b, result, square) : square;
    exponent >>= 1;
    if (exponent == 0)
      return result ? result : constant(b, base.getType(), 1);
  }
}

/// Whether `exponent` is done by products on elements of `type`.
static bool isChain(double exponent, Type type) {
  if (isa<IntegerType>(type))
    return exponent >= 0 && exponent <= kMaxChain && std::trunc(exponent) == exponent;
  return std::abs(exponent) <= kMaxChain && std::trunc(2 * exponent) == 2 * exponent;
}

static Value chainedPower(ImplicitLocOpBuilder &b, Value base, double exponent) {
  double magnitude = std::abs(exponent);
  Value power = chain(b, base, int64_t(magnitude));
  if (magnitude != std::trunc(magnitude)) {
    Value root = math::SqrtOp::create(b, base);
    power = magnitude < 1 ? root : product(b, power, root);
  }
  if (exponent >= 0)
    return power;
  return arith::DivFOp::create(b, constant(b, base.getType(), 1), power);
}

/// The exponent's element in the base's type, which is a float.
static Value convertExponent(ImplicitLocOpBuilder &b, Value exponent, Type type, bool isUnsigned) {
  if (exponent.getType() == type)
    return exponent;
  if (isa<IntegerType>(exponent.getType()))
    return isUnsigned ? arith::UIToFPOp::create(b, type, exponent).getResult()
                      : arith::SIToFPOp::create(b, type, exponent).getResult();
  if (exponent.getType().getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
    return arith::TruncFOp::create(b, type, exponent);
  return arith::ExtFOp::create(b, type, exponent);
}

/// exp(b log |a|), with the results of C's pow for zero and negative bases.
static Value generalPower(ImplicitLocOpBuilder &b, Value base, Value exponent) {
  Type type = base.getType();
  Value zero = constant(b, type, 0);
  auto test = [&](arith::CmpFPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpFOp::create(b, predicate, x, y);
  };
  auto select = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, condition, x, y);
  };
  Value log = math::LogOp::create(b, math::AbsFOp::create(b, base));
  Value magnitude = math::ExpOp::create(b, arith::MulFOp::create(b, exponent, log));
  Value half = arith::MulFOp::create(b, exponent, constant(b, type, 0.5));
  Value isWhole = test(arith::CmpFPredicate::OEQ, exponent, math::FloorOp::create(b, exponent));
  Value isEven = test(arith::CmpFPredicate::OEQ, half, math::FloorOp::create(b, half));
  Value notANumber = arith::ConstantOp::create(
      b, b.getFloatAttr(type, APFloat::getNaN(cast<FloatType>(type).getFloatSemantics())));
  // Minus zero has a sign for odd exponents alone.
  Value odd = math::CopySignOp::create(b, magnitude, base);
  Value broken = select(test(arith::CmpFPredicate::OLT, base, zero), notANumber, magnitude);
  Value power = select(isEven, magnitude, select(isWhole, odd, broken));
  return select(test(arith::CmpFPredicate::OEQ, exponent, zero), constant(b, type, 1), power);
}

/// The exponent's element as a 64-bit integer. A float is truncated.
static Value wholeExponent(ImplicitLocOpBuilder &b, Value exponent, bool isUnsigned) {
  Type wide = b.getI64Type();
  if (isa<FloatType>(exponent.getType()))
    return arith::FPToSIOp::create(b, wide, exponent);
  if (exponent.getType() == wide)
    return exponent;
  return isUnsigned ? arith::ExtUIOp::create(b, wide, exponent).getResult()
                    : arith::ExtSIOp::create(b, wide, exponent).getResult();
}

/// base ^ exponent for integers, modulo their width, by squaring. A negative exponent gives the
/// truncated reciprocal.
static Value wholePower(ImplicitLocOpBuilder &b, Value base, Value exponent) {
  Type type = base.getType();
  auto number = [&](Type type, int64_t value) { return constant(b, type, double(value)); };
  auto equals = [&](Value x, int64_t value) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, number(x.getType(), value));
  };
  auto select = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, condition, x, y);
  };
  Value power = number(type, 1), square = base;
  for (int64_t bit = 0; bit < 63; ++bit) {
    Value digit = arith::ShRUIOp::create(b, exponent, number(exponent.getType(), bit));
    Value isSet = arith::TruncIOp::create(b, b.getI1Type(), digit);
    power = select(isSet, arith::MulIOp::create(b, power, square), power);
    square = arith::MulIOp::create(b, square, square);
  }
  Value isOdd = arith::TruncIOp::create(b, b.getI1Type(), exponent);
  Value sign = select(isOdd, number(type, -1), number(type, 1));
  Value reciprocal =
      select(equals(base, 1), number(type, 1), select(equals(base, -1), sign, number(type, 0)));
  Value isNegative =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, exponent, number(exponent.getType(), 0));
  return select(isNegative, reciprocal, power);
}

static LogicalResult lowerPow(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                              Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Type type = tensorType(inputs[0]).getElementType();
  std::optional<double> exponent = splatNumber(inputs[1]);
  if (exponent && isChain(*exponent, type)) {
    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange x) {
      return chainedPower(inner, x[0], *exponent);
    };
    lowered.results.push_back(elementwise(b, inputs[0], node.outputType(0), body));
    return success();
  }
  bool noSign = isUnsigned(node, 1);
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange x) -> Value {
    if (isa<IntegerType>(type))
      return wholePower(inner, x[0], wholeExponent(inner, x[1], noSign));
    return generalPower(inner, x[0], convertExponent(inner, x[1], type, noSign));
  };
  lowered.results.push_back(elementwise(b, inputs, node.outputType(0), body));
  return success();
}

/// exponent base ^ (exponent - 1).
static Value baseSlope(onnx::NodeOp node, NodeBuilder &builder) {
  Value base = node.getInputs()[0];
  Type type = tensorType(base).getElementType();
  if (std::optional<double> exponent = splatNumber(node.getInputs()[1])) {
    if (*exponent == 0) // also where the base is zero, and its power infinite
      return builder.scalar(0, type);
    Value power =
        *exponent == 2 ? base : builder.binary(op::Pow, base, builder.scalar(*exponent - 1, type));
    return builder.mul(power, builder.scalar(*exponent, type));
  }
  Value exponent = builder.cast(node.getInputs()[1], type);
  Value power = builder.binary(op::Pow, base, builder.sub(exponent, builder.scalar(1, type)));
  Value isZero = builder.binary(op::Equal, exponent, builder.scalar(0, type));
  return builder.where(isZero, builder.scalar(0, type), builder.mul(exponent, power));
}

static LogicalResult powGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                 NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (wanted[0])
    grads[0] = builder.reduceTo(builder.mul(dy[0], baseSlope(node, builder)), node.inputType(0));
  if (!wanted[1])
    return success();
  Value base = node.getInputs()[0];
  Value zero = builder.scalar(0, base.getType());
  Value positive = builder.binary(op::Greater, base, zero);
  Value safe = builder.where(positive, base, builder.scalar(1, base.getType()));
  Value slope = builder.mul(node.getOutputs()[0], builder.unary(op::Log, safe));
  grads[1] = builder.reduceTo(builder.mul(dy[0], slope), node.inputType(1));
  return success();
}

void registerPow() {
  registerAnySign(
      OpDef{op::Pow, 7, kNewestOpset, Kind::Elementwise, lowerPow, powGradient}.computing(
          Function::Pow));
}

} // namespace zero::ops
