//===- SpecialFunctions.cpp - functions of programs that ONNX lacks -------===//
//
// zero::Atan2(y, x), Cbrt, Erfc, ErfInv, Log2: functions of JAX and of math, which ONNX only has in
// terms of others, whose derivatives are not those of the function where such terms cancel or
// divide by zero.
//
// Gradients, r the result:
//   Atan2 dr x / (x x + y y), -dr y / (x x + y y), both 0 at the origin
//   Cbrt dr / (3 r r)                                  Log2 dr / (x ln 2)
//   Erfc -dr 2/sqrt(pi) exp(-x x)                      ErfInv dr sqrt(pi)/2 exp(r r)
//
//===----------------------------------------------------------------------===//

#include "ElementwiseRules.h"
#include "Movement.h"
#include "zero/Ops/ElementFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace zero::ops {

/// Evaluates a polynomial in `w`, highest power first.
static Value polynomial(ImplicitLocOpBuilder &b, Value w, ArrayRef<double> coefficients) {
  Value sum = constant(b, w.getType(), coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = arith::AddFOp::create(b, arith::MulFOp::create(b, sum, w),
                                constant(b, w.getType(), coefficient));
  return sum;
}

/// The inverse of erf in f32 (Giles, Approximating the erfinv function, 2011): two polynomials in
/// w = -log(1 - x x).
static Value erfInverse(ImplicitLocOpBuilder &b, ValueRange operands) {
  Value x = operands[0];
  auto number = [&](double value) { return constant(b, x.getType(), value); };
  auto isBelow = [&](arith::CmpFPredicate how, Value value, double bound) {
    return arith::CmpFOp::create(b, how, value, number(bound));
  };
  Value square = arith::MulFOp::create(b, x, x);
  Value w = arith::NegFOp::create(b, math::Log1pOp::create(b, arith::NegFOp::create(b, square)));
  Value central =
      polynomial(b, arith::SubFOp::create(b, w, number(2.5)),
                 {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                  -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  Value tail = polynomial(b, arith::SubFOp::create(b, math::SqrtOp::create(b, w), number(3)),
                          {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
                           0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  Value isCentral = isBelow(arith::CmpFPredicate::OLT, w, 5);
  Value factor = arith::SelectOp::create(b, isCentral, central, tail);
  Value isEnd = isBelow(arith::CmpFPredicate::OEQ, math::AbsFOp::create(b, x), 1);
  Value infinity = number(std::numeric_limits<double>::infinity());
  return arith::MulFOp::create(b, x, arith::SelectOp::create(b, isEnd, infinity, factor));
}

static LogicalResult lowerErfInv(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  if (node.outputType(0).getElementType().isF64())
    return nodeError(node) << "expected floats of at most 32 bits, got " << node.outputType(0);
  return lowerFunction<erfInverse>(node, inputs, builder, lowered);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

static Value num(NodeBuilder &b, double value, Value like) {
  return b.scalar(value, like.getType());
}

static Value cbrtSlope(NodeBuilder &b, Value, Value r, Value dr) {
  return b.div(dr, b.mul(num(b, 3, r), b.mul(r, r)));
}
static Value erfcSlope(NodeBuilder &b, Value x, Value, Value dr) {
  Value bell = b.unary(op::Exp, b.neg(b.mul(x, x)));
  return b.mul(dr, b.mul(bell, num(b, -2 * llvm::numbers::inv_sqrtpi, dr)));
}
static Value erfInvSlope(NodeBuilder &b, Value, Value r, Value dr) {
  Value bell = b.unary(op::Exp, b.mul(r, r));
  return b.mul(dr, b.mul(bell, num(b, 0.5 / llvm::numbers::inv_sqrtpi, dr)));
}
static Value log2Slope(NodeBuilder &b, Value x, Value, Value dr) {
  return b.div(b.mul(dr, num(b, llvm::numbers::log2e, dr)), x);
}

static LogicalResult atan2Gradient(onnx::NodeOp node, ValueRange dr, ArrayRef<bool> wanted,
                                   NodeBuilder &b, MutableArrayRef<Value> grads) {
  Value y = node.getInputs()[0], x = node.getInputs()[1];
  Value square = b.add(b.mul(x, x), b.mul(y, y));
  // The quotient is 0 at the origin, where all angles are as good.
  Value isOrigin = b.binary(op::Equal, square, num(b, 0, square));
  Value share = b.div(dr[0], b.where(isOrigin, num(b, 1, square), square));
  if (wanted[0])
    grads[0] = b.reduceTo(b.mul(share, x), node.inputType(0));
  if (wanted[1])
    grads[1] = b.reduceTo(b.neg(b.mul(share, y)), node.inputType(1));
  return success();
}

template <SlopeFn slope>
static void add(onnx::Operator type, LowerFn lower) {
  registerOp({type, 1, 1, Kind::Elementwise, lower, functionGradient<slope>});
}

bool isElementFunction(onnx::NodeOp node) {
  return node.isAnyOf(
      {own::Atan2, own::Cbrt, own::Erfc, own::ErfInv, own::Expm1, own::Log1p, own::Log2});
}

void registerSpecialFunctions() {
  registerOp(
      {own::Atan2, 1, 1, Kind::Elementwise, lowerFunction<oneOp<math::Atan2Op>>, atan2Gradient});
  add<cbrtSlope>(own::Cbrt, lowerFunction<oneOp<math::CbrtOp>>);
  add<erfcSlope>(own::Erfc, lowerFunction<oneOp<math::ErfcOp>>);
  add<erfInvSlope>(own::ErfInv, lowerErfInv);
  add<log2Slope>(own::Log2, lowerFunction<oneOp<math::Log2Op>>);
}

} // namespace zero::ops
