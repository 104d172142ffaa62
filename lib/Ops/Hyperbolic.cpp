//===- Hyperbolic.cpp - tangents, inverses and hyperbolic functions -------===//
//
// ONNX Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh.
//
// Gradients: Tan dy (1 + y y)       Asin dy / sqrt(1 - x x)   Acos -dy / sqrt(1 - x x)
//   Atan dy / (1 + x x)             Sinh dy cosh x            Cosh dy sinh x
//   Asinh dy / sqrt(x x + 1)        Acosh dy / sqrt(x x - 1)  Atanh dy / (1 - x x)
//
//===----------------------------------------------------------------------===//

#include "ElementwiseRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace zero::ops {

/// sign x x + shift.
static Value square(NodeBuilder &b, Value x, double sign, double shift) {
  Value squared = b.mul(x, x);
  Value signedSquare = sign < 0 ? b.neg(squared) : squared;
  return b.add(signedSquare, b.scalar(shift, x.getType()));
}

static Value tanSlope(NodeBuilder &b, Value, Value y, Value dy) {
  return b.mul(dy, square(b, y, 1, 1));
}
static Value asinSlope(NodeBuilder &b, Value x, Value, Value dy) {
  return b.div(dy, b.unary(op::Sqrt, square(b, x, -1, 1)));
}
static Value acosSlope(NodeBuilder &b, Value x, Value y, Value dy) {
  return b.neg(asinSlope(b, x, y, dy));
}
static Value atanSlope(NodeBuilder &b, Value x, Value, Value dy) {
  return b.div(dy, square(b, x, 1, 1));
}
static Value sinhSlope(NodeBuilder &b, Value x, Value, Value dy) {
  return b.mul(dy, b.unary(op::Cosh, x));
}
static Value coshSlope(NodeBuilder &b, Value x, Value, Value dy) {
  return b.mul(dy, b.unary(op::Sinh, x));
}
static Value asinhSlope(NodeBuilder &b, Value x, Value, Value dy) {
  return b.div(dy, b.unary(op::Sqrt, square(b, x, 1, 1)));
}
static Value acoshSlope(NodeBuilder &b, Value x, Value, Value dy) {
  return b.div(dy, b.unary(op::Sqrt, square(b, x, 1, -1)));
}
static Value atanhSlope(NodeBuilder &b, Value x, Value, Value dy) {
  return b.div(dy, square(b, x, -1, 1));
}

template <typename Op, SlopeFn slope>
static void add(onnx::Operator type, int64_t first) {
  registerOp({type, first, kNewestOpset, Kind::Elementwise, lowerFunction<oneOp<Op>>,
              functionGradient<slope>});
}

void registerHyperbolic() {
  add<math::TanOp, tanSlope>(op::Tan, 7);
  add<math::AsinOp, asinSlope>(op::Asin, 7);
  add<math::AcosOp, acosSlope>(op::Acos, 7);
  add<math::AtanOp, atanSlope>(op::Atan, 7);
  add<math::SinhOp, sinhSlope>(op::Sinh, 9);
  add<math::CoshOp, coshSlope>(op::Cosh, 9);
  add<math::AsinhOp, asinhSlope>(op::Asinh, 9);
  add<math::AcoshOp, acoshSlope>(op::Acosh, 9);
  add<math::AtanhOp, atanhSlope>(op::Atanh, 9);
}

} // namespace zero::ops
