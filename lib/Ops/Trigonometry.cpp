//===- Trigonometry.cpp - sine and cosine ---------------------------------===//
//
// ONNX Sin, Cos (opset 7, 22). Rotary embeddings take them of positions, so
// arguments of thousands must be as exact as small ones: the quarter turns are
// taken off in f64 (upstream's approximation does it in f32 and is wrong by 2e-4
// at 4096), then the minimax polynomials of Cephes' sinf and cosf on [-pi/4, pi/4].
//
// Gradients: Sin dy cos x, Cos -dy sin x.
//
//===----------------------------------------------------------------------===//

#include "Trigonometry.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace zero::ops {

// Highest power first, in r^2.
static constexpr double kSin[] = {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1};
static constexpr double kCos[] = {2.443315711809948e-5, -1.388731625493765e-3,
                                  4.166664568298827e-2};

static Value times(ImplicitLocOpBuilder &b, Value a, Value c) {
  return arith::MulFOp::create(b, a, c);
}
static Value plus(ImplicitLocOpBuilder &b, Value a, Value c) {
  return arith::AddFOp::create(b, a, c);
}

static Value polynomial(ImplicitLocOpBuilder &b, Value x, ArrayRef<double> coefficients) {
  Value sum = constant(b, x.getType(), coefficients[0]);
  for (double coefficient : coefficients.drop_front())
    sum = plus(b, times(b, sum, x), constant(b, x.getType(), coefficient));
  return sum;
}

/// sin(r) = r + r r^2 P(r^2).
static Value sineOf(ImplicitLocOpBuilder &b, Value r, Value square) {
  return plus(b, r, times(b, times(b, r, square), polynomial(b, square, kSin)));
}

/// cos(r) = 1 - r^2 / 2 + r^4 Q(r^2).
static Value cosineOf(ImplicitLocOpBuilder &b, Value square) {
  Value low = times(b, times(b, square, square), polynomial(b, square, kCos));
  Value half = times(b, square, constant(b, square.getType(), -0.5));
  return plus(b, constant(b, square.getType(), 1), plus(b, half, low));
}

/// sin(x + shift quarter turns).
static Value sineShifted(ImplicitLocOpBuilder &b, Value x, int shift) {
  Type type = x.getType(), wide = b.getF64Type();
  auto number = [&](double value) { return constant(b, wide, value); };
  Value exact = x;
  if (!type.isF64())
    exact = arith::ExtFOp::create(b, wide, x);
  Value turns = math::RoundEvenOp::create(b, times(b, exact, number(2 / llvm::numbers::pi)));
  Value rest = plus(b, exact, times(b, turns, number(-llvm::numbers::pi / 2)));
  // The quadrant, 0 to 3, without integers: a huge or infinite x stays defined.
  Value quarters = plus(b, turns, number(shift));
  Value whole = math::FloorOp::create(b, times(b, quarters, number(0.25)));
  Value quadrant = plus(b, quarters, times(b, whole, number(-4)));
  if (!type.isF64())
    rest = arith::TruncFOp::create(b, type, rest);
  Value square = times(b, rest, rest);
  auto isQuadrant = [&](double which) -> Value {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, quadrant, number(which));
  };
  Value isOdd = arith::OrIOp::create(b, isQuadrant(1), isQuadrant(3));
  Value isLower = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, quadrant, number(2));
  Value value = arith::SelectOp::create(b, isOdd, cosineOf(b, square), sineOf(b, rest, square));
  return arith::SelectOp::create(b, isLower, arith::NegFOp::create(b, value), value);
}

/// sin(x + shift quarter turns); the polynomials are exact to 24 bits only.
static Value sine(ImplicitLocOpBuilder &b, Value x, int shift) {
  if (!x.getType().isF64())
    return sineShifted(b, x, shift);
  return shift == 0 ? math::SinOp::create(b, x).getResult() : math::CosOp::create(b, x).getResult();
}

Value cosine(ImplicitLocOpBuilder &b, Value x) { return sine(b, x, 1); }

template <int shift>
static LogicalResult lower(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                           Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  auto body = [](ImplicitLocOpBuilder &in, ValueRange x) { return sine(in, x[0], shift); };
  lowered.results.push_back(elementwise(b, inputs, node.outputType(0), body));
  return success();
}

static LogicalResult sinGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                 NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (wanted[0])
    grads[0] = builder.mul(dy[0], builder.unary("Cos", node.getInputs()[0]));
  return success();
}

static LogicalResult cosGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                 NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (wanted[0])
    grads[0] = builder.neg(builder.mul(dy[0], builder.unary("Sin", node.getInputs()[0])));
  return success();
}

void registerTrigonometry() {
  registerOp({"", "Sin", 7, kNewestOpset, Kind::Elementwise, lower<0>, sinGradient});
  registerOp({"", "Cos", 7, kNewestOpset, Kind::Elementwise, lower<1>, cosGradient});
}

} // namespace zero::ops
