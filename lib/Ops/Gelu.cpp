//===- Gelu.cpp - the Gaussian error linear unit --------------------------===//
//
// ONNX Gelu (opset 20): x Phi(x), approximate = "none" through erf or "tanh"
// (Hendrycks and Gimpel, arXiv 1606.08415).
//
// Gradient: zero::GeluGrad(dy, x) {approximate}, one pass that recomputes Phi:
//   none: dy (Phi(x) + x phi(x)), phi the normal density
//   tanh: dy (0.5 (1 + t) + 0.5 x (1 - t t) u'), t = tanh u,
//         u = sqrt(2/pi) (x + 0.044715 x^3)
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace zero::ops {

static constexpr double kCubic = 0.044715;
static constexpr double kInvSqrt2 = 1 / llvm::numbers::sqrt2;
// sqrt(2 / pi)
static constexpr double kTanhScale = llvm::numbers::sqrt2 * llvm::numbers::inv_sqrtpi;
// 1 / sqrt(2 pi)
static constexpr double kDensity = kInvSqrt2 * llvm::numbers::inv_sqrtpi;

namespace {
/// Arithmetic on one element, written as formulas.
struct Element {
  ImplicitLocOpBuilder &b;
  Value value;

  Element make(Value other) const { return {b, other}; }
  Element number(double x) const { return make(constant(b, value.getType(), x)); }
};
} // namespace

static Element operator+(Element a, Element c) {
  return a.make(arith::AddFOp::create(a.b, a.value, c.value));
}
static Element operator-(Element a, Element c) {
  return a.make(arith::SubFOp::create(a.b, a.value, c.value));
}
static Element operator*(Element a, Element c) {
  return a.make(arith::MulFOp::create(a.b, a.value, c.value));
}
static Element operator*(double a, Element c) { return c.number(a) * c; }
static Element operator+(double a, Element c) { return c.number(a) + c; }
static Element operator-(double a, Element c) { return c.number(a) - c; }

/// tanh(u) of the approximation.
static Element tanhOf(Element x) {
  Element u = kTanhScale * (x + kCubic * (x * x * x));
  return x.make(math::TanhOp::create(x.b, u.value));
}

static Element erfOf(Element x) { return x.make(math::ErfOp::create(x.b, (kInvSqrt2 * x).value)); }

/// `x` times half of one plus erf or tanh.
static Element gelu(Element x, bool byTanh) {
  return 0.5 * x * (1.0 + (byTanh ? tanhOf(x) : erfOf(x)));
}

static Element geluSlope(Element x, bool byTanh) {
  if (byTanh) {
    Element t = tanhOf(x);
    Element inner = kTanhScale * (1.0 + (3 * kCubic) * (x * x));
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * inner;
  }
  Element bell = x.make(math::ExpOp::create(x.b, (-0.5 * (x * x)).value));
  return 0.5 * (1.0 + erfOf(x)) + kDensity * x * bell;
}

/// Reads `approximate`; an error when it is neither "none" nor "tanh".
static FailureOr<bool> usesTanh(onnx::NodeOp node) {
  StringRef form = node.getString("approximate", "none");
  if (form != "none" && form != "tanh")
    return node.emitError() << "expected approximate = 'none' or 'tanh' in " << node.describe()
                            << ", got '" << form << "'";
  return form == "tanh";
}

/// Gelu of the operand, or, with `slope`, dy times the slope at it.
template <bool slope>
static LogicalResult lowerGelu(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  FailureOr<bool> byTanh = usesTanh(node);
  if (failed(byTanh))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(
      elementwise(b, inputs, node.outputType(0), [&](ImplicitLocOpBuilder &inner, ValueRange in) {
        if (slope)
          return (Element{inner, in[0]} * geluSlope({inner, in[1]}, *byTanh)).value;
        return gelu({inner, in[0]}, *byTanh).value;
      }));
  return success();
}

static LogicalResult geluGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Value x = node.getInputs()[0];
  if (wanted[0])
    grads[0] = builder
                   .create(own::GeluGrad, x.getType(), {dy[0], x},
                           builder.attr("approximate", node.getString("approximate", "none")))
                   .getResult(0);
  return success();
}

void registerGelu() {
  registerOp({op::Gelu, 20, kNewestOpset, Kind::Elementwise, lowerGelu<false>, geluGradient});
  registerOp({own::GeluGrad, 1, 1, Kind::Elementwise, lowerGelu<true>});
}

} // namespace zero::ops
