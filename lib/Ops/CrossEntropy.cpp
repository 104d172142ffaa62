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
//   CheckPositive(count) -> count: stops the step where count is not positive, but no evaluation
// With `label_smoothing` s, which PyTorch's cross_entropy has and ONNX's loss has not, the
// target is (1 - s) [class = label] + s / classes: a row of CrossEntropySum and Rows adds
//   (1 - s) w (lse - score of the label) + s / classes * sum over classes of v (lse - score)
// unless its label is ignored, v being the weight of the class; the gradient follows.
// With {classes} and a last operand `coordinate`, behind weights or none, the scores of
// CrossEntropySum and CrossEntropyGrad are the rank's shard of `classes` columns, over the axis of
// {over, ranks}: zero-expand-sharded-losses writes out the sum.
// A mean divides by the sum of w over all ranks and micro-batches (the mean of it, as
// the gradient is averaged over them), unless the module carries
// `zero.local_loss_mean`: then each rank divides by its own.
//
// ONNX Runtime: SoftmaxCrossEntropyLossGrad(dloss, log_prob, labels[, weights]) is CrossEntropyGrad
// of the logarithms of the softmax, whose lse is 0, divided as the loss is;
// SoftmaxCrossEntropyLossInternal has ignore_index as an operand, and so has its gradient, to which
// it adds a last operand.
//
//===----------------------------------------------------------------------===//

#include "CrossEntropy.h"
#include "Lowering.h"

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

namespace {
/// What the divisor of a mean depends on.
struct Targets {
  Value labels, weights; ///< the second of the classes, or null
  std::optional<int64_t> ignored;

  SmallVector<Value> operands() const {
    return weights ? SmallVector<Value>{labels, weights} : SmallVector<Value>{labels};
  }
};
} // namespace

/// The attributes of nodes of the loss `node`, or of the loss that `node` is the gradient of.
static SmallVector<NamedAttribute> lossAttrs(onnx::NodeOp node, NodeBuilder &builder,
                                             std::optional<int64_t> ignored) {
  SmallVector<NamedAttribute> attrs{
      builder.attr("operator", node.getOpType().split("Internal").first.split("Grad").first)};
  if (ignored)
    attrs.push_back(builder.attr("ignore_index", *ignored));
  if (double smoothing = node.getFloat(kLabelSmoothing, 0); smoothing != 0)
    attrs.push_back(builder.attr(kLabelSmoothing, smoothing));
  return attrs;
}

static std::optional<int64_t> ignoredIndex(onnx::NodeOp node) {
  if (!node.getAttrs().contains("ignore_index"))
    return std::nullopt;
  return node.getInt("ignore_index", 0);
}

static SmallVector<NamedAttribute> lossAttrs(onnx::NodeOp node, NodeBuilder &builder) {
  return lossAttrs(node, builder, ignoredIndex(node));
}

static SmallVector<Value> givenInputs(onnx::NodeOp node) {
  SmallVector<Value> inputs(node.getInputs().take_front(2));
  if (node.hasInput(2))
    inputs.push_back(node.getInputs()[2]);
  return inputs;
}

/// The sum of the labels' weights, in elements of the scores of `node`.
static Value labelWeights(onnx::NodeOp node, NodeBuilder &nodes, const Targets &targets) {
  auto scalar = RankedTensorType::get({}, node.inputType(0).getElementType());
  return nodes
      .create(own::LabelWeights, scalar, targets.operands(),
              lossAttrs(node, nodes, targets.ignored))
      .getResult(0);
}

/// The sum of the labels' weights per part of the global batch, over all its parts. It is
/// computed from the labels alone, so that it can be known before the first micro-batch.
static Value globalDivisor(onnx::NodeOp node, NodeBuilder &nodes, const Targets &targets) {
  OpBuilder &builder = nodes.getBuilder();
  Value sum = labelWeights(node, nodes, targets);
  Type scalar = sum.getType();
  if (tensorType(sum).getElementType().isF32())
    sum = MicroMeanOp::create(builder, nodes.getLoc(), sum);
  return RankMeanOp::create(builder, nodes.getLoc(), scalar, sum);
}

/// `value` over the divisor of a mean, which is checked. `own` is the divisor of this rank, if it
/// is known already.
static Value overDivisor(onnx::NodeOp node, NodeBuilder &nodes, Value value, const Targets &targets,
                         Value own = {}) {
  auto module = node->getParentOfType<ModuleOp>();
  const bool isGlobal = !module || !module->hasAttr(kLocalLossMeanAttr);
  Value divisor = isGlobal ? globalDivisor(node, nodes, targets) : own;
  if (!divisor)
    divisor = labelWeights(node, nodes, targets);
  Value checked = nodes.create(own::CheckPositive, divisor.getType(), divisor).getResult(0);
  return nodes.div(value, checked);
}

/// Whether the reduction of `node` is a mean; an error unless it is ONNX's.
static FailureOr<bool> hasMean(onnx::NodeOp node) {
  StringRef reduction = node.getString("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return node.emitError() << "expected reduction = 'none', 'sum' or 'mean' in " << node.describe()
                            << ", got '" << reduction << "'";
  return reduction == "mean";
}

static LogicalResult expandLoss(onnx::NodeOp node, NodeBuilder &builder, const Family &family,
                                SmallVectorImpl<Value> &results) {
  FailureOr<bool> isMean = hasMean(node);
  if (failed(isMean))
    return failure();
  Type element = node.inputType(0).getElementType();
  RankedTensorType perRow = node.inputType(1).clone(element);
  SmallVector<NamedAttribute> attrs = lossAttrs(node, builder);
  if (node.getString("reduction", "mean") == "none") {
    onnx::NodeOp rows = builder.create(family.rows, {perRow, perRow}, givenInputs(node), attrs);
    results.push_back(rows.getResult(0));
    return success();
  }
  auto scalar = RankedTensorType::get({}, element);
  onnx::NodeOp loss =
      builder.create(family.sum, {scalar, scalar, perRow}, givenInputs(node), attrs);
  Value result = loss.getResult(0);
  if (*isMean) {
    Targets targets{node.getInputs()[1], node.hasInput(2) ? node.getInputs()[2] : Value(),
                    ignoredIndex(node)};
    result = overDivisor(node, builder, result, targets, loss.getResult(1));
  }
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

/// The gradient of the scores from that of the sum or of the rows.
static Value scoresGradient(onnx::NodeOp node, bool isNll, Value dy, NodeBuilder &builder) {
  SmallVector<Value> inputs{dy, node.getInputs()[0], node.getInputs()[1], node.getOutputs().back()};
  llvm::append_range(inputs, node.getInputs().drop_front(2));
  SmallVector<NamedAttribute> attrs = lossAttrs(node, builder);
  if (node.hasInput(3))
    attrs.push_back(builder.attr("classes", node.getInt("classes", 0)));
  return builder.create((isNll ? kNll : kCrossEntropy).grad, node.inputType(0), inputs, attrs)
      .getResult(0);
}

/// The gradient of the scores from that of lse, which a gradient of the gradient has: their
/// softmax. Classes are dimension 1 of the scores.
static Value lseGradient(onnx::NodeOp node, Value dy, NodeBuilder &builder) {
  Value scores = node.getInputs()[0];
  SmallVector<int64_t> shape(tensorType(scores).getShape());
  shape[1] = 1;
  Value lse = builder.reshape(node.getOutputs().back(), shape);
  Value softmax = builder.unary(op::Exp, builder.sub(scores, lse));
  return builder.mul(builder.reshape(dy, shape), softmax);
}

/// The gradient of a Sum or Rows node: its last result is lse.
static LogicalResult lossGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (wanted.size() > 2 && wanted[2])
    return node.emitError() << "no gradient for the class weights of " << node.describe();
  bool isNll = node.getOpType().starts_with("Nll");
  if (dy[0])
    grads[0] = scoresGradient(node, isNll, dy[0], builder);
  if (dy.back() && !isNll) {
    Value slope = lseGradient(node, dy.back(), builder);
    grads[0] = grads[0] ? builder.add(grads[0], slope) : slope;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ONNX Runtime
//===----------------------------------------------------------------------===//

/// The label to ignore: operand `index`, if `node` has it, or an attribute.
static FailureOr<std::optional<int64_t>> ignoredOperand(onnx::NodeOp node, unsigned index) {
  if (!node.hasInput(index))
    return ignoredIndex(node);
  if (std::optional<double> number = splatNumber(node.getInputs()[index]))
    return std::optional<int64_t>(int64_t(*number));
  return node.emitError() << "expected a constant ignore_index in " << node.describe();
}

/// The operand of labels of ONNX Runtime's operators may be followed by weights.
static Targets targetsOf(onnx::NodeOp node, unsigned labels, std::optional<int64_t> ignored) {
  return {node.getInputs()[labels],
          node.hasInput(labels + 1) ? node.getInputs()[labels + 1] : Value(), ignored};
}

template <bool isInternal>
static LogicalResult expandRuntimeGrad(onnx::NodeOp node, NodeBuilder &builder,
                                       SmallVectorImpl<Value> &results) {
  FailureOr<std::optional<int64_t>> ignored =
      isInternal ? ignoredOperand(node, 4) : ignoredIndex(node);
  FailureOr<bool> isMean = hasMean(node);
  if (failed(ignored) || failed(isMean))
    return failure();
  Targets targets = targetsOf(node, 2, *ignored);
  Value dy = node.getInputs()[0], logProb = node.getInputs()[1];
  if (node.getString("reduction", "mean") != "none")
    dy = builder.reshape(dy, {});
  if (*isMean)
    dy = overDivisor(node, builder, dy, targets);
  Type element = node.inputType(1).getElementType();
  Value lse = builder.splat(0, tensorType(targets.labels).clone(element));
  SmallVector<Value> inputs{dy, logProb, targets.labels, lse};
  if (targets.weights)
    inputs.push_back(targets.weights);
  Value grad = builder
                   .create(own::CrossEntropyGrad, node.inputType(1), inputs,
                           lossAttrs(node, builder, *ignored))
                   .getResult(0);
  if (isInternal && node.hasInput(5))
    grad = builder.add(grad, builder.reshape(node.getInputs()[5], node.inputType(1).getShape()));
  results.push_back(grad);
  return success();
}

/// As SoftmaxCrossEntropyLoss, with ignore_index as an attribute.
static LogicalResult expandInternal(onnx::NodeOp node, NodeBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  FailureOr<std::optional<int64_t>> ignored = ignoredOperand(node, 3);
  if (failed(ignored))
    return failure();
  SmallVector<NamedAttribute> attrs{builder.attr("reduction", node.getString("reduction", "mean"))};
  if (*ignored)
    attrs.push_back(builder.attr("ignore_index", **ignored));
  onnx::NodeOp loss =
      builder.create(op::SoftmaxCrossEntropyLoss, node->getResultTypes(), givenInputs(node), attrs);
  llvm::append_range(results, loss->getResults());
  return success();
}

/// The rows: the dimensions of the labels, which are operand `labels`. Of the scores, before it,
/// the classes are dimension 1. Operands behind `last` have no rows, nor have single numbers, of
/// which results are sums over rows.
static Factors rowFactors(onnx::NodeOp node, size_t labels, size_t last) {
  const int64_t rank = node.inputType(labels).getRank();
  auto dimOf = [&](Value value, int64_t row) -> int64_t {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() < rank)
      return -1;
    return type.getRank() > rank && row > 0 ? row + 1 : row;
  };
  FactorBuilder factors(node);
  for (int64_t row = 0; row < rank; ++row) {
    SmallVector<int64_t> operands, results;
    for (Value input : node.getInputs().take_front(last + 1))
      operands.push_back(dimOf(input, row));
    for (Value result : node.getOutputs())
      results.push_back(dimOf(result, row));
    factors.add(operands, results, FactorKind::Sum);
  }
  return factors.take();
}

static Factors lossFactors(onnx::NodeOp node) { return rowFactors(node, /*labels=*/1, /*last=*/1); }
static Factors gradFactors(onnx::NodeOp node) { return rowFactors(node, /*labels=*/2, /*last=*/3); }
static Factors weightFactors(onnx::NodeOp node) {
  return rowFactors(node, /*labels=*/0, /*last=*/0);
}

void registerCrossEntropy() {
  registerOp(OpDef{op::SoftmaxCrossEntropyLoss, 12, kNewestOpset, Kind::Rows, nullptr, nullptr,
                   expandCrossEntropy}
                 .keepsWide()
                 .operand(2, OperandRole::ClassWeights));
  registerOp(OpDef{op::NegativeLogLikelihoodLoss, 12, kNewestOpset, Kind::Rows, nullptr, nullptr,
                   expandNll}
                 .keepsWide()
                 .operand(2, OperandRole::ClassWeights));
  for (const Family &family : {kCrossEntropy, kNll}) {
    for (onnx::Operator loss : {family.sum, family.rows}) {
      OpDef def = OpDef{loss, 1, 1, Kind::Rows, lowerLossRows, lossGradient}.keepsWide().dividedBy(
          lossFactors);
      // The sum of the weights of labels.
      def.constantResults = loss == family.sum ? 2 : 0;
      registerOp(def);
    }
    registerOp(OpDef{family.grad, 1, 1, Kind::Rows, lowerLossGrad}.dividedBy(gradFactors));
  }
  registerOp(
      OpDef{own::LabelWeights, 1, 1, Kind::Other, lowerLabelWeights}.dividedBy(weightFactors));
  registerOp(
      OpDef{own::CheckPositive, 1, 1, Kind::Other, lowerCheckPositive}.linearly(Linear::InFirst));
  registerRuntimeOp("SoftmaxCrossEntropyLossGrad", expandRuntimeGrad<false>);
  registerRuntimeOp("SoftmaxCrossEntropyLossInternal", expandInternal);
  registerRuntimeOp("SoftmaxCrossEntropyLossInternalGrad", expandRuntimeGrad<true>);
}

} // namespace zero::ops
