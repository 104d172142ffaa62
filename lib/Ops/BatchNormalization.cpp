//===- BatchNormalization.cpp ---------------------------------------------===//
//
// ONNX: BatchNormalization (Ioffe and Szegedy, arXiv 1502.03167), opsets 13 to 23,
// training_mode 0 and 1. Over all dimensions but the second, the channels c:
//   y = (x - mean_c) r_c scale_c + bias_c, r_c = 1 / sqrt(var_c + epsilon).
// In training mode mean and variance are those of the batch, and results 1 and 2
//   running' = running momentum + batch (1 - momentum).
// By ONNX the batch's variance divides by its count n; attribute `unbiased`, ours,
// divides by n - 1 in result 2, as PyTorch and TensorFlow keep it.
//
// Training mode is expanded to the batch's statistics and the node without it, so
// that mean and variance are values like others. Gradients, of n elements a channel:
//   zero::BatchMoments(x) -> (mean, var)
//   zero::BatchMomentsGrad(dmean, dvar, x, mean): (dmean + 2 (x - mean) dvar) / n
//   zero::BatchNormGradX(dy, scale, var) {epsilon}: dy scale r
//   zero::BatchNormGradSums(dy, x, mean, var) {epsilon}: the sums over a channel of dy
//     and of dy (x - mean) r, the gradients of bias and scale;
//   of mean: -scale r dbias; of var: -1/2 scale r^2 dscale.
//
// ONNX Runtime: BatchNormInternal(x, scale, bias, mean, var) is the training mode, with the batch's
// mean and r as results 3 and 4; BatchNormalizationGrad(dy, x, scale, mean, r) -> (dx, dscale,
// dbias) is its gradient.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Movement.h"
#include "dialects/Zero/Zero.h"
#include "zero/Ops/BatchNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace zero {

static constexpr onnx::Operator kBatchNormInternal{ops::kRuntimeDomain, "BatchNormInternal"};
static constexpr onnx::Operator kBatchNormGrad{ops::kRuntimeDomain, "BatchNormalizationGrad"};

bool trainsBatchNorm(onnx::NodeOp node) {
  if (node.is(kBatchNormInternal))
    return node.getInt("training_mode", 1) != 0;
  return node.is(op::BatchNormalization) && node.getOpset() >= 14 &&
         node.getInt("training_mode", 0) != 0;
}

namespace ops {

/// The dimensions that a channel's statistics run over.
static SmallVector<int64_t> sharedAxes(RankedTensorType type) {
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (axis != 1)
      axes.push_back(axis);
  return axes;
}

/// Elements of `type` in each channel.
static int64_t countOf(RankedTensorType type) {
  int64_t count = 1;
  for (int64_t axis : sharedAxes(type))
    count *= type.getDimSize(axis);
  return count;
}

/// One value for each channel of `type`.
static RankedTensorType perChannel(RankedTensorType type) {
  return type.clone({type.getDimSize(1)});
}

/// How an operand with one value for each channel is read.
static AffineMap channelMap(MLIRContext *context, int64_t rank) {
  return AffineMap::get(rank, 0, getAffineDimExpr(1, context), context);
}

static LogicalResult checkOperands(onnx::NodeOp node) {
  RankedTensorType type = node.inputType(0);
  if (type.getRank() < 2)
    return nodeError(node) << "expected at least 2 dimensions, got " << type;
  for (unsigned i = 1; i < 5; ++i)
    if (node.inputType(i).getShape() != perChannel(type).getShape())
      return nodeError(node) << "expected operand " << i << " of type " << perChannel(type)
                             << ", got " << node.inputType(i);
  return success();
}

//===----------------------------------------------------------------------===//
// Training mode
//===----------------------------------------------------------------------===//

namespace {
struct Statistics {
  Value mean, variance;
};
} // namespace

/// The statistics of this rank's batch or, if the module says so, of all ranks' batches. Computes
/// the mean first and then the mean square around it, which avoids cancellation.
static Statistics batchStatistics(onnx::NodeOp node, NodeBuilder &builder) {
  Value x = node.getInputs()[0];
  Type vector = perChannel(node.inputType(0));
  onnx::NodeOp moments = builder.create(own::BatchMoments, {vector, vector}, x);
  Statistics batch{moments.getResult(0), moments.getResult(1)};
  if (!node->getParentOfType<ModuleOp>()->hasAttr(kSyncBatchNormAttr))
    return batch;
  auto overRanks = [&](Value value) {
    return builder.create(own::RankMean, vector, value).getResult(0);
  };
  Value mean = overRanks(batch.mean);
  Value shift = builder.sub(batch.mean, mean);
  return {mean, overRanks(builder.add(batch.variance, builder.mul(shift, shift)))};
}

/// n / (n - 1) for a batch of n elements a channel: this rank's, or all ranks'.
static Value besselFactor(onnx::NodeOp node, NodeBuilder &builder) {
  Type element = node.inputType(0).getElementType();
  double count = double(countOf(node.inputType(0)));
  if (!node->getParentOfType<ModuleOp>()->hasAttr(kSyncBatchNormAttr))
    return builder.scalar(count / std::max(count - 1, 1.0), element);
  // For N ranks: n N / (n N - 1) = n / (n - 1/N). A single element has no variance.
  auto scalar = RankedTensorType::get({}, element);
  Value share = RankShareOp::create(builder.getBuilder(), builder.getLoc(), scalar);
  Value n = builder.scalar(count, element);
  return builder.div(n, builder.binary(op::Max, builder.sub(n, share), share));
}

static Value blend(onnx::NodeOp node, NodeBuilder &builder, Value running, Value batch) {
  double momentum = node.getFloat("momentum", double(0.9f));
  Type element = tensorType(running).getElementType();
  return builder.add(builder.mul(running, builder.scalar(momentum, element)),
                     builder.mul(batch, builder.scalar(1 - momentum, element)));
}

/// Whether the step itself reads `statistics`, as another call of the same module does.
static bool isRead(Value statistics) {
  return llvm::any_of(statistics.getUsers(), [](Operation *user) { return !isa<WriteOp>(user); });
}

/// y and the next running statistics of `node`, which normalizes by those of `batch`.
static SmallVector<Value> expandTraining(onnx::NodeOp node, NodeBuilder &builder,
                                         const Statistics &batch) {
  auto inputs = node.getInputs();
  // An evaluation of the trained model goes by its running statistics.
  Value training = builder.programInput(kTraining, builder.getBuilder().getI1Type());
  Value mean = builder.where(training, batch.mean, inputs[3]);
  Value around = builder.where(training, batch.variance, inputs[4]);
  auto normalized = builder.create(op::BatchNormalization, node.getOutputs()[0].getType(),
                                   {inputs[0], inputs[1], inputs[2], mean, around},
                                   {builder.attr("epsilon", node.getFloat("epsilon", 1e-5))});
  Value variance = batch.variance;
  if (node.getInt("unbiased", 0))
    variance = builder.mul(variance, besselFactor(node, builder));
  SmallVector<Value> results{normalized.getResult(0), blend(node, builder, inputs[3], batch.mean),
                             blend(node, builder, inputs[4], variance)};
  // An evaluation leaves them as they are. It does not write them, but may read them.
  for (unsigned i : {1, 2})
    if (i < node.getOutputs().size() && isRead(node.getOutputs()[i]))
      results[i] = builder.where(training, results[i], inputs[2 + i]);
  return results;
}

static LogicalResult expandBatchNorm(onnx::NodeOp node, NodeBuilder &builder,
                                     SmallVectorImpl<Value> &results) {
  if (failed(checkOperands(node)))
    return failure();
  bool trains = trainsBatchNorm(node);
  for (auto [index, result] : llvm::enumerate(node.getOutputs()))
    if (index >= (trains ? 3 : 1) && !result.use_empty())
      return nodeError(node) << "of opset " << node.getOpset()
                             << ": its results after the first are not supported outside "
                                "training mode, and none after the third";
  if (trains)
    addResults(node, expandTraining(node, builder, batchStatistics(node, builder)), builder,
               results);
  return success();
}

/// Whether anything but the gradient of the normalization reads `statistics` of a batch.
static bool isReadByForward(Value statistics) {
  return llvm::any_of(statistics.getUsers(), [](Operation *user) {
    auto node = dyn_cast<onnx::NodeOp>(user);
    return !node || !node.is(kBatchNormGrad);
  });
}

/// The training mode of ONNX Runtime, which also returns the statistics of the batch. In an
/// evaluation these are the running ones, by which it normalizes.
static LogicalResult expandInternal(onnx::NodeOp node, NodeBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  if (!trainsBatchNorm(node))
    return nodeError(node) << "expected training_mode = 1";
  Statistics batch = batchStatistics(node, builder);
  SmallVector<Value> values = expandTraining(node, builder, batch);
  Value training = builder.programInput(kTraining, builder.getBuilder().getI1Type());
  if (node->getNumResults() > 3 && isReadByForward(node.getOutputs()[3]))
    batch.mean = builder.where(training, batch.mean, node.getInputs()[3]);
  if (node->getNumResults() > 4 && isReadByForward(node.getOutputs()[4]))
    batch.variance = builder.where(training, batch.variance, node.getInputs()[4]);
  RankedTensorType vector = tensorType(batch.variance);
  Value safe = builder.add(batch.variance, builder.scalar(node.getFloat("epsilon", 1e-5), vector));
  Value inverse = builder.unary(op::Reciprocal, builder.unary(op::Sqrt, safe));
  values.append({batch.mean, inverse});
  addResults(node, values, builder, results);
  return success();
}

//===----------------------------------------------------------------------===//
// Lowerings
//===----------------------------------------------------------------------===//

namespace {
/// The channels of one node.
struct Channels {
  Channels(onnx::NodeOp node, OpBuilder &builder, RankedTensorType type)
      : b(node.getLoc(), builder), type(type), map(channelMap(b.getContext(), type.getRank())),
        epsilon(node.getFloat("epsilon", 1e-5)) {}

  /// r of each channel, times `scale` where it is given.
  Value inverse(Value variance, Value scale = {});

  ImplicitLocOpBuilder b;
  RankedTensorType type;
  AffineMap map; ///< reads a value per channel
  double epsilon;
};
} // namespace

Value Channels::inverse(Value variance, Value scale) {
  SmallVector<Value> operands{variance};
  if (scale)
    operands.push_back(scale);
  auto body = [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Value safe = arith::AddFOp::create(in, x[0], constant(in, x[0].getType(), epsilon));
    Value numerator = scale ? x[1] : constant(in, x[0].getType(), 1);
    return arith::DivFOp::create(in, numerator, math::SqrtOp::create(in, safe));
  };
  return elementwise(b, operands, perChannel(type), body);
}

static LogicalResult lowerBatchNorm(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                    Lowered &lowered) {
  Channels channels(node, builder, node.inputType(0));
  Value factor = channels.inverse(inputs[4], inputs[1]);
  auto body = [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Value centred = arith::SubFOp::create(in, x[0], x[1]);
    return arith::AddFOp::create(in, arith::MulFOp::create(in, centred, x[2]), x[3]);
  };
  lowered.results.push_back(elementwise(channels.b, {inputs[0], inputs[3], factor, inputs[2]},
                                        {{}, channels.map, channels.map, channels.map},
                                        channels.type, body));
  return success();
}

static LogicalResult lowerGradX(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                Lowered &lowered) {
  Channels channels(node, builder, node.inputType(0));
  Value factor = channels.inverse(inputs[2], inputs[1]);
  auto body = [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    return arith::MulFOp::create(in, x[0], x[1]);
  };
  lowered.results.push_back(
      elementwise(channels.b, {inputs[0], factor}, {{}, channels.map}, channels.type, body));
  return success();
}

/// `value` as [batch, channels, all others]: long loops, however small an image is.
static Value flattened(ImplicitLocOpBuilder &b, Value value) {
  RankedTensorType type = tensorType(value);
  int64_t batch = type.getDimSize(0), channels = type.getDimSize(1);
  return reshaped(b, value, type.clone({batch, channels, product(type.getShape().drop_front(2))}));
}

/// Sums over each channel the results of `body` for `operands`. The first operand has all elements.
static Value channelSum(ImplicitLocOpBuilder &b, ValueRange operands, Body body) {
  SmallVector<AffineMap> maps;
  for (Value operand : operands)
    maps.push_back(tensorType(operand).getRank() == 1 ? channelMap(b.getContext(), 3)
                                                      : AffineMap());
  return reduce(b, operands, maps, tensorType(operands[0]), {0, 2}, Combine::Sum, body);
}

static LogicalResult lowerMoments(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                  Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Value x = flattened(b, inputs[0]);
  double count = double(countOf(node.inputType(0)));
  auto divided = [&](Value sum) {
    return elementwise(b, sum, tensorType(sum), [&](ImplicitLocOpBuilder &in, ValueRange s) {
      return arith::DivFOp::create(in, s[0], constant(in, s[0].getType(), count)).getResult();
    });
  };
  Value mean =
      divided(channelSum(b, x, [](ImplicitLocOpBuilder &, ValueRange in) { return in[0]; }));
  auto square = [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Value centred = arith::SubFOp::create(in, x[0], x[1]);
    return arith::MulFOp::create(in, centred, centred);
  };
  lowered.results = {mean, divided(channelSum(b, {x, mean}, square))};
  return success();
}

static LogicalResult lowerGradSums(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                   Lowered &lowered) {
  Channels channels(node, builder, node.inputType(0));
  ImplicitLocOpBuilder &b = channels.b;
  Value dy = flattened(b, inputs[0]), x = flattened(b, inputs[1]);
  Value inverse = channels.inverse(inputs[3]);
  lowered.results.push_back(
      channelSum(b, dy, [](ImplicitLocOpBuilder &, ValueRange in) { return in[0]; }));
  auto along = [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Value centred = arith::SubFOp::create(in, x[1], x[2]);
    return arith::MulFOp::create(in, x[0], arith::MulFOp::create(in, centred, x[3]));
  };
  lowered.results.push_back(channelSum(b, {dy, x, inputs[2], inverse}, along));
  return success();
}

static LogicalResult lowerMomentsGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                      Lowered &lowered) {
  Channels channels(node, builder, node.inputType(2));
  double count = double(countOf(channels.type));
  auto body = [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Type type = x[0].getType();
    Value slope = arith::MulFOp::create(in, x[2], constant(in, type, 2 / count));
    Value centred = arith::SubFOp::create(in, x[0], x[3]);
    Value even = arith::MulFOp::create(in, x[1], constant(in, type, 1 / count));
    return arith::AddFOp::create(in, even, arith::MulFOp::create(in, centred, slope));
  };
  lowered.results.push_back(elementwise(channels.b, {inputs[2], inputs[0], inputs[1], inputs[3]},
                                        {{}, channels.map, channels.map, channels.map},
                                        channels.type, body));
  return success();
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

// `safe` is the variance with its epsilon.

static Value gradientOfMean(NodeBuilder &builder, Value scale, Value safe, Value ofBias) {
  return builder.neg(builder.mul(builder.div(scale, builder.unary(op::Sqrt, safe)), ofBias));
}

static Value gradientOfVariance(NodeBuilder &builder, Value scale, Value safe, Value ofScale) {
  return builder.mul(builder.mul(builder.div(scale, safe), ofScale),
                     builder.scalar(-0.5, safe.getType()));
}

static LogicalResult gradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads) {
  auto inputs = node.getInputs();
  Value x = inputs[0], scale = inputs[1], mean = inputs[3], variance = inputs[4];
  // The width of the statistics, because their gradients are computed from the sums.
  RankedTensorType vector = node.inputType(4);
  double epsilon = node.getFloat("epsilon", 1e-5);
  NamedAttribute attr = builder.attr("epsilon", epsilon);
  if (wanted[0])
    grads[0] = builder.create(own::BatchNormGradX, x.getType(), {dy[0], scale, variance}, attr)
                   .getResult(0);
  if (llvm::none_of(wanted.drop_front(), [](bool is) { return is; }))
    return success();
  onnx::NodeOp sums =
      builder.create(own::BatchNormGradSums, {vector, vector}, {dy[0], x, mean, variance}, attr);
  Value ofBias = sums.getResult(0), ofScale = sums.getResult(1);
  grads[1] = ofScale;
  grads[2] = ofBias;
  Value safe = builder.add(variance, builder.scalar(epsilon, vector));
  if (wanted[3])
    grads[3] = gradientOfMean(builder, scale, safe, ofBias);
  if (wanted[4])
    grads[4] = gradientOfVariance(builder, scale, safe, ofScale);
  return success();
}

/// ONNX Runtime's gradient: through y, and through the statistics of the batch.
static LogicalResult expandGradient(onnx::NodeOp node, NodeBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  auto inputs = node.getInputs();
  Value dy = inputs[0], x = inputs[1], scale = inputs[2], mean = inputs[3], inverse = inputs[4];
  Type vector = mean.getType();
  // The variance with its epsilon.
  Value safe = builder.unary(op::Reciprocal, builder.mul(inverse, inverse));
  NamedAttribute attr = builder.attr("epsilon", 0.0);
  onnx::NodeOp sums =
      builder.create(own::BatchNormGradSums, {vector, vector}, {dy, x, mean, safe}, attr);
  Value ofBias = sums.getResult(0), ofScale = sums.getResult(1);
  Value direct =
      builder.create(own::BatchNormGradX, x.getType(), {dy, scale, safe}, attr).getResult(0);
  Value throughBatch = builder
                           .create(own::BatchMomentsGrad, x.getType(),
                                   {gradientOfMean(builder, scale, safe, ofBias),
                                    gradientOfVariance(builder, scale, safe, ofScale), x, mean})
                           .getResult(0);
  addResults(node, {builder.add(direct, throughBatch), ofScale, ofBias}, builder, results);
  return success();
}

/// Zeros where no gradient comes.
static Value orZeros(NodeBuilder &builder, Value gradient, RankedTensorType type) {
  return gradient ? gradient : builder.splat(0, type);
}

static LogicalResult momentsGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool>,
                                     NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Value x = node.getInputs()[0];
  RankedTensorType vector = node.outputType(0);
  grads[0] = builder
                 .create(own::BatchMomentsGrad, x.getType(),
                         {orZeros(builder, dy[0], vector), orZeros(builder, dy[1], vector), x,
                          node.getOutputs()[0]})
                 .getResult(0);
  return success();
}

/// All dimensions but the second run over elements that are alike; `kind` says what is lost of
/// results that lack them. The second has one place for each channel, as vectors have.
static Factors channelFactors(onnx::NodeOp node, FactorKind kind, bool dividesRows) {
  auto dimsOf = [](auto values, int64_t rank, int64_t dim) {
    SmallVector<int64_t> dims;
    for (Value value : values) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      dims.push_back(type && type.getRank() == rank ? dim : type && dim == 1 ? 0 : -1);
    }
    return dims;
  };
  int64_t rank = 0;
  for (Value input : node.getInputs())
    rank = std::max(rank, cast<RankedTensorType>(input.getType()).getRank());
  FactorBuilder factors(node);
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim == 1 || dividesRows)
      factors.add(dimsOf(node.getInputs(), rank, dim), dimsOf(node.getOutputs(), rank, dim),
                  dim == 1 ? FactorKind::Parallel : kind);
  return factors.take();
}

static Factors normFactors(onnx::NodeOp node) {
  return channelFactors(node, FactorKind::Parallel, !node.getInt("training_mode", 0));
}

static Factors momentsFactors(onnx::NodeOp node) {
  return channelFactors(node, FactorKind::Parallel, /*dividesRows=*/false);
}

static Factors gradSumsFactors(onnx::NodeOp node) {
  return channelFactors(node, FactorKind::Sum, /*dividesRows=*/true);
}

void registerBatchNormalization() {
  // All but y: statistics.
  registerOp(OpDef{op::BatchNormalization, 13, 23, Kind::Elementwise, lowerBatchNorm, gradient,
                   expandBatchNorm}
                 .keepsWide(~1u)
                 .dividedBy(normFactors)
                 .operand(1, OperandRole::Scale)
                 .operand(2, OperandRole::Offset)
                 .operand(3, OperandRole::Statistics)
                 .operand(4, OperandRole::Statistics));
  registerOp(OpDef{own::BatchMoments, 1, 1, Kind::Rows, lowerMoments, momentsGradient}
                 .keepsWide()
                 .dividedBy(momentsFactors));
  registerOp(OpDef{own::BatchMomentsGrad, 1, 1, Kind::Elementwise, lowerMomentsGrad}.dividedBy(
      momentsFactors));
  registerOp(
      OpDef{own::BatchNormGradX, 1, 1, Kind::Elementwise, lowerGradX}.dividedBy(normFactors));
  registerOp(
      OpDef{own::BatchNormGradSums, 1, 1, Kind::Rows, lowerGradSums}.dividedBy(gradSumsFactors));
  registerRuntimeOp("BatchNormInternal", expandInternal);
  registerRuntimeOp("BatchNormalizationGrad", expandGradient);
}

} // namespace ops
} // namespace zero
