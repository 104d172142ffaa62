//===- Activations.cpp - activations that expand into others --------------===//
//
// ONNX Softsign, Selu, Celu, ThresholdedRelu, HardSwish and PRelu expand to operators of
// the table, which have the gradients (ONNX has bodies for them, but not in every
// opset):
//   Softsign x / (1 + |x|)          Selu gamma Elu(x; alpha)
//   Celu alpha Elu(x / alpha; 1)    ThresholdedRelu x where x > alpha, else 0
//   HardSwish x HardSigmoid(x; 1/6, 1/2)
//   PRelu x where x > 0, else slope x: at zero the gradient is that of the slope
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Movement.h"

#include "mlir/Dialect/Traits.h"

using namespace mlir;

namespace zero::ops {

/// The result from the operand.
using FormFn = Value (*)(onnx::NodeOp, NodeBuilder &, Value);

template <FormFn form>
static LogicalResult expandForm(onnx::NodeOp node, NodeBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  if (failed(requireFloat(node)))
    return failure();
  results.push_back(form(node, builder, node.getInputs()[0]));
  return success();
}

static Value number(NodeBuilder &b, double value, Value like) {
  return b.scalar(value, like.getType());
}

static Value elu(NodeBuilder &b, Value x, double alpha) {
  return b.create(op::Elu, x.getType(), x, b.attr("alpha", alpha)).getResult(0);
}

static Value softsign(onnx::NodeOp, NodeBuilder &b, Value x) {
  return b.div(x, b.add(number(b, 1, x), b.unary(op::Abs, x)));
}

static Value selu(onnx::NodeOp node, NodeBuilder &b, Value x) {
  // The attributes' defaults are the nearest floats of these.
  double alpha = node.getFloat("alpha", 1.67326319217681884765625);
  return b.mul(elu(b, x, alpha), number(b, node.getFloat("gamma", 1.05070102214813232421875), x));
}

static Value celu(onnx::NodeOp node, NodeBuilder &b, Value x) {
  Value alpha = number(b, node.getFloat("alpha", 1), x);
  return b.mul(elu(b, b.div(x, alpha), 1), alpha);
}

static Value thresholdedRelu(onnx::NodeOp node, NodeBuilder &b, Value x) {
  Value above = b.binary(op::Greater, x, number(b, node.getFloat("alpha", 1), x));
  return b.where(above, x, number(b, 0, x));
}

static LogicalResult expandPRelu(onnx::NodeOp node, NodeBuilder &b,
                                 SmallVectorImpl<Value> &results) {
  Value x = node.getInputs()[0], slope = node.getInputs()[1];
  ArrayRef<int64_t> shape = tensorType(x).getShape();
  SmallVector<int64_t> joined;
  if (failed(requireFloat(node)))
    return failure();
  if (!OpTrait::util::getBroadcastedShape(shape, tensorType(slope).getShape(), joined) ||
      ArrayRef(joined) != shape)
    return nodeError(node) << "expected a slope that broadcasts to " << x.getType() << ", got "
                           << slope.getType();
  results.push_back(b.where(b.binary(op::Greater, x, number(b, 0, x)), x, b.mul(slope, x)));
  return success();
}

static Value hardSwish(onnx::NodeOp, NodeBuilder &b, Value x) {
  Value gate =
      b.create(op::HardSigmoid, x.getType(), x, {b.attr("alpha", 1.0 / 6), b.attr("beta", 0.5)})
          .getResult(0);
  return b.mul(x, gate);
}

static void add(onnx::Operator type, int64_t first, ExpandFn expand) {
  registerOp({type, first, kNewestOpset, Kind::Elementwise, nullptr, nullptr, expand});
}

void registerActivations() {
  add({"", "Softsign"}, 7, expandForm<softsign>);
  add({"", "Selu"}, 7, expandForm<selu>);
  add({"", "Celu"}, 12, expandForm<celu>);
  add({"", "ThresholdedRelu"}, 10, expandForm<thresholdedRelu>);
  add({"", "HardSwish"}, 14, expandForm<hardSwish>);
  add({"", "PRelu"}, 7, expandPRelu);
}

} // namespace zero::ops
