//===- Dropout.cpp --------------------------------------------------------===//
//
// ONNX: Dropout. With ratio 0, or outside of training mode,
// it is the identity and its mask is all true. Else it is expanded to
//
//   zero.DropoutMask(key, part, training) {ratio}     -> a truth value for each element
//
// and a Where. The key is a zero.RandomKey; the first word that Philox draws for an
// element decides: see Philox.h.
//
// ONNX Runtime: DropoutGrad(dy, mask, ratio, training) is the same Where of dy.
//
//===----------------------------------------------------------------------===//

#include "zero/Ops/Dropout.h"
#include "Movement.h"
#include "Philox.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;

namespace zero::ops {

/// The ratio dropped, operand `index`; 0 outside of training mode, which the next operand says.
/// Fails after an error when it is not known.
static FailureOr<double> droppedRatio(onnx::NodeOp node, unsigned index) {
  if (!node.hasInput(index + 1) || splatNumber(node.getInputs()[index + 1]) == 0.0)
    return 0.0;
  std::optional<double> ratio = node.hasInput(index) ? splatNumber(node.getInputs()[index]) : 0.5;
  if (!ratio || !splatNumber(node.getInputs()[index + 1]))
    return nodeError(node) << "expected a constant ratio and training mode";
  if (!(*ratio >= 0 && *ratio < 1))
    return nodeError(node) << "expected a ratio of at least 0 and below 1, got " << *ratio;
  return *ratio;
}

/// The random mask of `node`.
static Value drawMask(onnx::NodeOp node, double ratio, NodeBuilder &nodes) {
  Builder &builder = nodes.getBuilder();
  Type i64 = builder.getI64Type(), i1 = builder.getI1Type();
  Value key = randomKey(node, uint32_t(node.getInt("seed", 0)), nodes);
  return nodes
      .create(own::DropoutMask, node.outputType(0).clone(i1),
              {key, nodes.programInput(kBatchPart, i64), nodes.programInput(kTraining, i1)},
              nodes.attr("ratio", ratio))
      .getResult(0);
}

/// `data` where `mask` is true, scaled up while the step trains.
static Value kept(Value data, Value mask, double ratio, NodeBuilder &nodes) {
  Value training = nodes.programInput(kTraining, nodes.getBuilder().getI1Type());
  Type type = data.getType();
  Value scale = nodes.where(training, nodes.scalar(1 / (1 - ratio), type), nodes.scalar(1, type));
  return nodes.where(mask, nodes.mul(data, scale), nodes.scalar(0, type));
}

static LogicalResult expandDropout(onnx::NodeOp node, NodeBuilder &nodes,
                                   SmallVectorImpl<Value> &results) {
  FailureOr<double> ratio = droppedRatio(node, 1);
  if (failed(ratio))
    return failure();
  Value data = node.getInputs().front();
  if (*ratio == 0) {
    results.push_back(data);
    if (node.getOutputs().size() > 1)
      results.push_back(arith::ConstantOp::create(
          nodes.getBuilder(), nodes.getLoc(), DenseElementsAttr::get(node.outputType(1), true)));
    return success();
  }
  Value mask = drawMask(node, *ratio, nodes);
  results.push_back(kept(data, mask, *ratio, nodes));
  if (node.getOutputs().size() > 1)
    results.push_back(mask);
  return success();
}

static LogicalResult expandDropoutGrad(onnx::NodeOp node, NodeBuilder &nodes,
                                       SmallVectorImpl<Value> &results) {
  FailureOr<double> ratio = droppedRatio(node, 2);
  if (failed(ratio))
    return failure();
  Value dy = node.getInputs()[0];
  results.push_back(*ratio == 0 ? dy : kept(dy, node.getInputs()[1], *ratio, nodes));
  return success();
}

static LogicalResult lowerDropoutMask(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                      Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType type = node.outputType(0);
  double ratio = node.getFloat("ratio", 0);
  auto threshold = int32_t(uint32_t(std::ldexp(ratio, 32)));
  auto body = [&](ImplicitLocOpBuilder &s, ValueRange) -> Value {
    Value training = tensor::ExtractOp::create(s, inputs[2], ValueRange());
    Value drawn = drawWords(s, type, inputs[0], inputs[1])[0];
    Value limit = arith::ConstantIntOp::create(s, s.getI32Type(), threshold);
    Value kept = arith::CmpIOp::create(s, arith::CmpIPredicate::uge, drawn, limit);
    Value always = arith::XOrIOp::create(s, training, arith::ConstantIntOp::create(s, 1, 1));
    return arith::OrIOp::create(s, kept, always);
  };
  lowered.results.push_back(elementwise(b, ValueRange(), type, body));
  return success();
}

void registerDropout() {
  registerOp({op::Dropout, 13, kNewestOpset, Kind::Other, nullptr, nullptr, expandDropout});
  registerOp(OpDef{own::DropoutMask, 1, 1, Kind::Other, lowerDropoutMask}.piecewise());
  registerRuntimeOp("DropoutGrad", expandDropoutGrad);
}

} // namespace zero::ops

Value zero::dropout(NodeBuilder &nodes, Value value, double ratio) {
  OpBuilder &builder = nodes.getBuilder();
  Value training = nodes.splat(1, RankedTensorType::get({}, builder.getI1Type()));
  Value share = nodes.splat(ratio, RankedTensorType::get({}, builder.getF32Type()));
  return nodes.create(op::Dropout, value.getType(), {value, share, training}).getResult(0);
}
