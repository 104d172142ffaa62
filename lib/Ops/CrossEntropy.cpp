//===- CrossEntropy.cpp - losses over classes -----------------------------===//
//
// ONNX SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss (opset 13): scores
// [N, C] or [N, C, d1, ..], labels [N] or [N, d1, ..], optional weights [C],
// ignore_index, reduction none, sum or mean. They expand to nodes of the domain
// `zero`, all with the attributes `ignore_index` (optional) and, for messages,
// `operator`; w is the label's weight, and 0 where the label is ignore_index:
//   CrossEntropySum(scores, labels[, weights]) -> (sum of w (lse - score of the label),
//     sum of w, lse = log sum exp of the scores per row)
//   CrossEntropyRows: the same without the first sum
//   CrossEntropyGrad(dsum or drows, scores, labels, lse[, weights]) -> dscores
//     = d w (exp(score - lse) - [class = label]), one pass over the rows; with {begin,
//     classes} the scores are those of classes from `begin` on, of `classes` in all
//   NllSum, NllRows, NllGrad: the same with lse = 0 and without exp
//   LabelWeights(labels[, weights]) -> sum of w
//   CheckPositive(count) -> count: stops the step where count is not positive
// With `label_smoothing` s, which PyTorch's cross_entropy has and ONNX's loss has not, the
// target is (1 - s) [class = label] + s / classes: a row of CrossEntropySum and Rows adds
//   (1 - s) w (lse - score of the label) + s / classes * sum over classes of v (lse - score)
// unless its label is ignored, v being the weight of the class; the gradient follows.
// A mean divides by the sum of w over all ranks and micro-batches (the mean of it, as
// the gradient is averaged over them), unless the module carries
// `zero.local_loss_mean`: then each rank divides by its own.
//
//===----------------------------------------------------------------------===//

#include "CrossEntropy.h"

#include "dialects/Zero/Zero.h"
#include "zero/Ops/CallAttrs.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// The two families of nodes.
struct Family {
  onnx::Operator sum, rows, grad;
};
} // namespace

static constexpr Family kCrossEntropy{
    own::CrossEntropySum, {kZeroDomain, "CrossEntropyRows"}, own::CrossEntropyGrad};
static constexpr Family kNll{
    {kZeroDomain, "NllSum"}, {kZeroDomain, "NllRows"}, {kZeroDomain, "NllGrad"}};

static SmallVector<NamedAttribute> lossAttrs(onnx::NodeOp node, NodeBuilder &builder) {
  SmallVector<NamedAttribute> attrs{builder.attr("operator", node.getOpType())};
  if (node.getAttrs().contains("ignore_index"))
    attrs.push_back(builder.attr("ignore_index", node.getInt("ignore_index", 0)));
  if (double smoothing = node.getFloat(kLabelSmoothing, 0); smoothing != 0)
    attrs.push_back(builder.attr(kLabelSmoothing, smoothing));
  return attrs;
}

static SmallVector<Value> givenInputs(onnx::NodeOp node) {
  SmallVector<Value> inputs(node.getInputs().take_front(2));
  if (node.hasInput(2))
    inputs.push_back(node.getInputs()[2]);
  return inputs;
}

/// The sum of the labels' weights per part of the global batch, over all its parts. It is
/// computed from the labels alone, so that it can be known before the first micro-batch.
static Value globalDivisor(onnx::NodeOp node, NodeBuilder &nodes) {
  OpBuilder &builder = nodes.getBuilder();
  SmallVector<Value> inputs(givenInputs(node));
  inputs.erase(inputs.begin());
  auto scalar = RankedTensorType::get({}, node.inputType(0).getElementType());
  Value sum = nodes.create(own::LabelWeights, scalar, inputs, lossAttrs(node, nodes)).getResult(0);
  if (scalar.getElementType().isF32())
    sum = MicroMeanOp::create(builder, nodes.getLoc(), sum);
  return RankMeanOp::create(builder, nodes.getLoc(), scalar, sum);
}

/// The loss of `node`, a sum, over its divisor, which is checked.
static Value meanLoss(onnx::NodeOp node, NodeBuilder &nodes, Value sum, Value divisor) {
  auto module = node->getParentOfType<ModuleOp>();
  if (!module || !module->hasAttr(kLocalLossMeanAttr))
    divisor = globalDivisor(node, nodes);
  Value checked = nodes.create(own::CheckPositive, divisor.getType(), divisor).getResult(0);
  return nodes.div(sum, checked);
}

static LogicalResult expandLoss(onnx::NodeOp node, NodeBuilder &builder, const Family &family,
                                SmallVectorImpl<Value> &results) {
  StringRef reduction = node.getString("reduction", "mean");
  Type element = node.inputType(0).getElementType();
  RankedTensorType perRow = node.inputType(1).clone(element);
  SmallVector<NamedAttribute> attrs = lossAttrs(node, builder);
  if (reduction == "none") {
    onnx::NodeOp rows = builder.create(family.rows, {perRow, perRow}, givenInputs(node), attrs);
    results.push_back(rows.getResult(0));
    return success();
  }
  if (reduction != "sum" && reduction != "mean")
    return node.emitError() << "expected reduction = 'none', 'sum' or 'mean' in " << node.describe()
                            << ", got '" << reduction << "'";
  auto scalar = RankedTensorType::get({}, element);
  onnx::NodeOp loss =
      builder.create(family.sum, {scalar, scalar, perRow}, givenInputs(node), attrs);
  Value result = loss.getResult(0);
  if (reduction == "mean")
    result = meanLoss(node, builder, result, loss.getResult(1));
  // Models write a scalar as [] or, older ones, as [1].
  results.push_back(builder.reshape(result, node.outputType(0).getShape()));
  return success();
}

static LogicalResult expandCrossEntropy(onnx::NodeOp node, NodeBuilder &builder,
                                        SmallVectorImpl<Value> &results) {
  if (failed(expandLoss(node, builder, kCrossEntropy, results)))
    return failure();
  if (node.getNumResults() > 1)
    results.push_back(builder
                          .create(op::LogSoftmax, node.outputType(1), node.getInputs()[0],
                                  builder.attr("axis", int64_t(1)))
                          .getResult(0));
  return success();
}

static LogicalResult expandNll(onnx::NodeOp node, NodeBuilder &builder,
                               SmallVectorImpl<Value> &results) {
  return expandLoss(node, builder, kNll, results);
}

/// The gradient of a Sum or Rows node: its last result is lse.
static LogicalResult lossGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (wanted.size() > 2 && wanted[2])
    return node.emitError() << "no gradient for the class weights of " << node.describe();
  if (!wanted[0] || !dy[0])
    return success();
  bool isNll = node.getOpType().starts_with("Nll");
  SmallVector<Value> inputs{dy[0], node.getInputs()[0], node.getInputs()[1],
                            node.getOutputs().back()};
  if (node.hasInput(2))
    inputs.push_back(node.getInputs()[2]);
  grads[0] = builder
                 .create((isNll ? kNll : kCrossEntropy).grad, node.inputType(0), inputs,
                         lossAttrs(node, builder))
                 .getResult(0);
  return success();
}

void registerCrossEntropy() {
  registerOp(keepsWide({op::SoftmaxCrossEntropyLoss, 12, kNewestOpset, Kind::Rows, nullptr, nullptr,
                        expandCrossEntropy}));
  registerOp(keepsWide(
      {op::NegativeLogLikelihoodLoss, 12, kNewestOpset, Kind::Rows, nullptr, nullptr, expandNll}));
  for (const Family &family : {kCrossEntropy, kNll}) {
    for (onnx::Operator loss : {family.sum, family.rows})
      registerOp(keepsWide({loss, 1, 1, Kind::Rows, lowerLossRows, lossGradient}));
    registerOp({family.grad, 1, 1, Kind::Rows, lowerLossGrad});
  }
  registerOp({own::LabelWeights, 1, 1, Kind::Other, lowerLabelWeights});
  registerOp({own::CheckPositive, 1, 1, Kind::Other, lowerCheckPositive});
}

} // namespace zero::ops
