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
// ONNX Runtime: Gelu(x), FastGelu(x[, bias]) by tanh, BiasGelu(x, bias); their gradients
// GeluGrad(dy, x), FastGeluGrad(dy, x), BiasGeluGrad_dX and BiasFastGeluGrad_dX(dy, x, bias).
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

/// zero::GeluGrad of `dy` at `x`.
static Value gradientAt(NodeBuilder &builder, Value dy, Value x, StringRef approximate) {
  return builder
      .create(own::GeluGrad, x.getType(), {dy, x}, builder.attr("approximate", approximate))
      .getResult(0);
}

static LogicalResult geluGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Value x = node.getInputs()[0];
  if (wanted[0])
    grads[0] = gradientAt(builder, dy[0], x, node.getString("approximate", "none"));
  return success();
}

/// The form of ONNX Runtime's operators.
static StringRef formOf(onnx::NodeOp node) {
  return node.getOpType().contains("Fast") ? "tanh" : "none";
}

/// Operand `index` with the bias behind it.
static Value biased(onnx::NodeOp node, unsigned index, NodeBuilder &builder) {
  Value x = node.getInputs()[index];
  return node.hasInput(index + 1) ? builder.add(x, node.getInputs()[index + 1]) : x;
}

static LogicalResult expandRuntimeGelu(onnx::NodeOp node, NodeBuilder &builder,
                                       SmallVectorImpl<Value> &results) {
  Value x = biased(node, 0, builder);
  results.push_back(
      builder.create(op::Gelu, x.getType(), x, builder.attr("approximate", formOf(node)))
          .getResult(0));
  return success();
}

static LogicalResult expandRuntimeGrad(onnx::NodeOp node, NodeBuilder &builder,
                                       SmallVectorImpl<Value> &results) {
  results.push_back(
      gradientAt(builder, node.getInputs()[0], biased(node, 1, builder), formOf(node)));
  return success();
}

void registerGelu() {
  registerOp({op::Gelu, 20, kNewestOpset, Kind::Elementwise, lowerGelu<false>, geluGradient});
  registerOp({own::GeluGrad, 1, 1, Kind::Elementwise, lowerGelu<true>});
  registerRuntimeOp(op::Gelu.type, expandRuntimeGelu);
  registerRuntimeOp("FastGelu", expandRuntimeGelu);
  registerRuntimeOp("BiasGelu", expandRuntimeGelu);
  registerRuntimeOp(own::GeluGrad.type, expandRuntimeGrad);
  for (StringRef name : {"FastGeluGrad", "BiasGeluGrad_dX", "BiasFastGeluGrad_dX"})
    registerRuntimeOp(name, expandRuntimeGrad);
}

} // namespace zero::ops
