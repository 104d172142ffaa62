//===- Trigonometry.cpp - sine and cosine ---------------------------------===//
//
// ONNX Sin, Cos (opset 7, 22). Rotary embeddings take them of positions, so
// arguments of thousands must be as exact as small ones: the quarter turns are
// taken off in f64 (upstream's approximation does it in f32 and is wrong by 2e-4
// at 4096), beyond 2^27 by a product with the bits of 2/pi that count, as Payne and Hanek
// have it (SIGNUM Newsletter 18, 1983), without a branch; then the minimax polynomials of Cephes'
// sinf and cosf on [-pi/4, pi/4].
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

/// From here on the quarter rotations of an f32 are found by modularTurns(): below, removing them
/// is exact to 2^-25.
static constexpr double kLarge = 0x1p27;

namespace {
/// 2^shift 2/pi modulo 4 in four numbers of at most 27 bits, for x from 2^23 2^shift on.
struct TurnBits {
  double scale; ///< 2^-shift
  double parts[4];
};
} // namespace

/// Each for 34 powers of two.
static constexpr TurnBits kTurns[] = {
    {0x1p-4, {0x1.17cc1b4p+1, 0x1.9391054p-26, 0x1.4fe13ap-55, 0x1.7d1f534p-80}},
    {0x1p-38, {0x1.c882a5p+1, 0x1.fc2757cp-26, 0x1.1f534d8p-54, 0x1.7036d88p-80}},
    {0x1p-72, {0x1.3abe8cp-3, 0x1.d4d377p-26, 0x1.b6c528p-57, 0x1.993c438p-80}}};

/// x 2/pi modulo 4, plus at most 12, for an x of 24 bits from kLarge on, exact to 2^-48. The bits
/// of 2/pi whose product with the lowest bit of x is a multiple of 4 are omitted. The rest is a sum
/// of integers of at most 51 bits, each of which is reduced below 4.
static Value modularTurns(ImplicitLocOpBuilder &b, Value x) {
  auto number = [&](double value) { return constant(b, x.getType(), value); };
  Value magnitude = math::AbsFOp::create(b, x);
  auto isFrom = [&](double least) -> Value {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, magnitude, number(least));
  };
  Value isSecond = isFrom(0x1p61), isThird = isFrom(0x1p95);
  auto choose = [&](auto of) -> Value {
    Value second =
        arith::SelectOp::create(b, isSecond, number(of(kTurns[1])), number(of(kTurns[0])));
    return arith::SelectOp::create(b, isThird, number(of(kTurns[2])), second);
  };
  Value whole = times(b, x, choose([](const TurnBits &bits) { return bits.scale; }));
  Value sum;
  for (int part = 4; part-- > 0;) {
    Value turns = times(b, whole, choose([&](const TurnBits &bits) { return bits.parts[part]; }));
    Value full = math::FloorOp::create(b, times(b, turns, number(0.25)));
    turns = plus(b, turns, times(b, full, number(-4)));
    sum = sum ? plus(b, sum, turns) : turns;
  }
  return sum;
}

namespace {
/// An angle as quarter rotations and a remainder from -pi/4 to pi/4.
struct Angle {
  Value turns, rest;
};
} // namespace

/// Removes the quarter rotations from `x`, an f64 of 24 bits below kLarge.
static Angle splitNear(ImplicitLocOpBuilder &b, Value x) {
  auto number = [&](double value) { return constant(b, x.getType(), value); };
  Value turns = math::RoundEvenOp::create(b, times(b, x, number(2 / llvm::numbers::pi)));
  return {turns, plus(b, x, times(b, turns, number(-llvm::numbers::pi / 2)))};
}

/// The same for any size. NaN and infinities give NaN.
static Angle split(ImplicitLocOpBuilder &b, Value x) {
  auto number = [&](double value) { return constant(b, x.getType(), value); };
  Angle near = splitNear(b, x);
  Value modular = modularTurns(b, x), turns = math::RoundEvenOp::create(b, modular);
  Value rest =
      times(b, plus(b, modular, arith::NegFOp::create(b, turns)), number(llvm::numbers::pi / 2));
  Value isFar = arith::CmpFOp::create(b, arith::CmpFPredicate::UGE, math::AbsFOp::create(b, x),
                                      number(kLarge));
  return {arith::SelectOp::create(b, isFar, turns, near.turns),
          arith::SelectOp::create(b, isFar, rest, near.rest)};
}

/// sin(x + shift quarter rotations), with x decomposed by `split`.
static Value sineShifted(ImplicitLocOpBuilder &b, Value x, int shift,
                         Angle (*split)(ImplicitLocOpBuilder &, Value)) {
  Type type = x.getType(), wide = b.getF64Type();
  auto number = [&](double value) { return constant(b, wide, value); };
  auto [turns, rest] = split(b, arith::ExtFOp::create(b, wide, x));
  // The quadrant, 0 to 3, without integers: an infinite x stays defined.
  Value quarters = plus(b, turns, number(shift));
  Value whole = math::FloorOp::create(b, times(b, quarters, number(0.25)));
  Value quadrant = plus(b, quarters, times(b, whole, number(-4)));
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

/// sin(x + shift quarter rotations); the polynomials are exact to 24 bits only.
static Value sine(ImplicitLocOpBuilder &b, Value x, int shift) {
  if (!x.getType().isF64())
    return sineShifted(b, x, shift, split);
  return shift == 0 ? math::SinOp::create(b, x).getResult() : math::CosOp::create(b, x).getResult();
}

Value cosineOfTurn(ImplicitLocOpBuilder &b, Value x) {
  return x.getType().isF64() ? math::CosOp::create(b, x).getResult()
                             : sineShifted(b, x, 1, splitNear);
}

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
    grads[0] = builder.mul(dy[0], builder.unary(op::Cos, node.getInputs()[0]));
  return success();
}

static LogicalResult cosGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                 NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (wanted[0])
    grads[0] = builder.neg(builder.mul(dy[0], builder.unary(op::Sin, node.getInputs()[0])));
  return success();
}

void registerTrigonometry() {
  auto add = [](OpDef def) { registerOp(def.operand(0, OperandRole::Angle)); };
  add({op::Sin, 7, kNewestOpset, Kind::Elementwise, lower<0>, sinGradient});
  add({op::Cos, 7, kNewestOpset, Kind::Elementwise, lower<1>, cosGradient});
}

} // namespace zero::ops
