//===- Swish.cpp - x sigmoid(alpha x) -------------------------------------===//
//
// ONNX: Swish; opset 24. With alpha = 1 it is SiLU (Hendrycks and Gimpel, arXiv
// 1606.08415), with 1.702 the quick form of GELU.
//
// Gradient: zero::SwishGrad(dy, x) {alpha}: dy s (1 + alpha x (1 - s)) with
// s = sigmoid(alpha x); only x is kept for backward.
//
// ONNX Runtime: QuickGelu(x) {alpha = 1.702} and QuickGeluGrad(dy, x) are the same.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace zero::ops {

static Value number(ImplicitLocOpBuilder &b, Value like, double value) {
  return constant(b, like.getType(), value);
}

/// The attribute alpha, which ONNX Runtime sets to another number where it is left out.
static double alphaOf(onnx::NodeOp node) {
  return node.getFloat("alpha", node.getDomain() == kRuntimeDomain ? double(1.702f) : 1);
}

/// `value` times alpha.
static Value scaled(ImplicitLocOpBuilder &b, Value value, double alpha) {
  return alpha == 1 ? value : arith::MulFOp::create(b, value, number(b, value, alpha)).getResult();
}

static Value sigmoid(ImplicitLocOpBuilder &b, Value x) {
  Value power = math::ExpOp::create(b, arith::NegFOp::create(b, x));
  Value one = number(b, x, 1);
  return arith::DivFOp::create(b, one, arith::AddFOp::create(b, one, power));
}

static LogicalResult lowerSwish(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  double alpha = alphaOf(node);
  auto body = [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    return arith::MulFOp::create(in, x[0], sigmoid(in, scaled(in, x[0], alpha)));
  };
  lowered.results.push_back(elementwise(b, inputs, node.outputType(0), body));
  return success();
}

static LogicalResult lowerGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  double alpha = node.getFloat("alpha", 1);
  auto body = [&](ImplicitLocOpBuilder &in, ValueRange v) -> Value {
    Value one = number(in, v[1], 1), x = scaled(in, v[1], alpha);
    Value s = sigmoid(in, x);
    Value bend = arith::MulFOp::create(in, x, arith::SubFOp::create(in, one, s));
    Value slope = arith::MulFOp::create(in, s, arith::AddFOp::create(in, one, bend));
    return arith::MulFOp::create(in, v[0], slope);
  };
  lowered.results.push_back(elementwise(b, inputs, node.outputType(0), body));
  return success();
}

static LogicalResult gradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Value x = node.getInputs()[0];
  if (wanted[0])
    grads[0] =
        builder
            .create(own::SwishGrad, x.getType(), {dy[0], x}, builder.attr("alpha", alphaOf(node)))
            .getResult(0);
  return success();
}

static LogicalResult expandQuickGrad(onnx::NodeOp node, NodeBuilder &builder,
                                     SmallVectorImpl<Value> &results) {
  results.push_back(builder
                        .create(own::SwishGrad, node.outputType(0), node.getInputs(),
                                builder.attr("alpha", alphaOf(node)))
                        .getResult(0));
  return success();
}

void registerSwish() {
  registerOp({op::Swish, 24, kNewestOpset, Kind::Elementwise, lowerSwish, gradient});
  registerOp({own::SwishGrad, 1, 1, Kind::Elementwise, lowerGrad});
  registerOp({{kRuntimeDomain, "QuickGelu"}, 1, 1, Kind::Elementwise, lowerSwish, gradient});
  registerRuntimeOp("QuickGeluGrad", expandQuickGrad);
}

} // namespace zero::ops
