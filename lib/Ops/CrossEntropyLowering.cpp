//===- CrossEntropyLowering.cpp - loops of the losses ---------------------===//
//
// What the nodes compute: CrossEntropy.cpp. A label outside the classes never
// reads outside the scores: it is moved inside, and the check that goes with
// every loss then stops the step.
//
//===----------------------------------------------------------------------===//

#include "CrossEntropy.h"
#include "LossLabels.h"
#include "zero/Ops/CallAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

// Scores are [N, C, ..].
static constexpr int64_t kClassAxis = 1;

namespace {
/// One loss node's operands.
struct Loss {
  Loss(onnx::NodeOp node, OpBuilder &builder, ValueRange operands)
      : b(node.getLoc(), builder), node(node), scores(operands[0]), labels(operands[1]),
        type(tensorType(scores)), rowType(tensorType(labels).clone(type.getElementType())),
        perRow(withoutAxes(b.getContext(), type.getRank(), kClassAxis)),
        withExp(!node.getOpType().starts_with("Nll")),
        smoothing(node.getFloat(kLabelSmoothing, 0)) {}

  /// How labels count, from the operands that say so; scores may be those of a part of the
  /// classes.
  LossLabels counted() const {
    int64_t classes = onnx::NodeOp(node).getInt("classes", type.getDimSize(kClassAxis));
    return {node, weights, classes, type.getElementType()};
  }
  Value isValid(ImplicitLocOpBuilder &in, Value label) { return counted().isValid(in, label); }
  Value weightOf(ImplicitLocOpBuilder &in, Value label) { return counted().weightOf(in, label); }
  /// The score of `label` in the row of the surrounding loops.
  Value scoreOf(ImplicitLocOpBuilder &in, Value label);

  /// The number of classes, of which scores may be a part.
  int64_t classCount() const {
    return onnx::NodeOp(node).getInt("classes", type.getDimSize(kClassAxis));
  }
  /// The loss of a row. `own` is the term of its label and `spread` the term of all classes.
  Value smoothed(ImplicitLocOpBuilder &in, Value label, Value own, Value spread);
  /// The term that smoothing adds to each row: the mean over classes of the weighted distance of a
  /// score from `lse`, times the smoothing factor.
  Value spreadLoss(Value lse);
  /// The gradient of spreadLoss() to the score of the current class, whose number is
  /// `klass`, where `share` is its softmax.
  Value spreadSlope(ImplicitLocOpBuilder &in, Value klass, Value share, Value sumOfWeights);
  /// The sum of the weights of all classes, or null where they have none.
  Value sumOfClassWeights();

  /// The first class of the shard of the rank `coordinate`.
  Value beginOfShard(ImplicitLocOpBuilder &in, Value coordinate, Type integer);

  Value logSumExp();
  ImplicitLocOpBuilder b;
  onnx::NodeOp node;
  Value scores, labels, weights;
  RankedTensorType type, rowType;
  AffineMap perRow;
  bool withExp;
  double smoothing; ///< 0: none
};
} // namespace

Value Loss::scoreOf(ImplicitLocOpBuilder &in, Value label) {
  SmallVector<Value> position;
  for (int64_t dim = 0; dim < rowType.getRank(); ++dim)
    position.push_back(linalg::IndexOp::create(in, dim));
  Value index = arith::IndexCastOp::create(in, in.getIndexType(), counted().inside(in, label));
  position.insert(position.begin() + kClassAxis, index);
  return tensor::ExtractOp::create(in, scores, position);
}

Value Loss::beginOfShard(ImplicitLocOpBuilder &in, Value coordinate, Type integer) {
  Value number = tensor::ExtractOp::create(in, coordinate, ValueRange());
  if (integer != number.getType())
    number = arith::TruncIOp::create(in, integer, number);
  return arith::MulIOp::create(in, number,
                               constant(in, integer, double(type.getDimSize(kClassAxis))));
}

/// log of the sum of exp along the classes, shifted by the maximum.
Value Loss::logSumExp() {
  Value top = reduce(b, scores, kClassAxis, Combine::Max);
  Value sum = reduce(b, {scores, top}, {{}, perRow}, type, kClassAxis, Combine::Sum,
                     [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
                       return math::ExpOp::create(in, arith::SubFOp::create(in, x[0], x[1]));
                     });
  return elementwise(b, {top, sum}, rowType, [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    return arith::AddFOp::create(in, x[0], math::LogOp::create(in, x[1]));
  });
}

Value Loss::spreadLoss(Value lse) {
  SmallVector<Value> operands{scores, lse};
  SmallVector<AffineMap> maps{{}, perRow};
  if (weights) {
    operands.push_back(weights);
    maps.push_back(AffineMap::get(type.getRank(), 0, getAffineDimExpr(kClassAxis, b.getContext())));
  }
  Value sum = reduce(b, operands, maps, type, kClassAxis, Combine::Sum,
                     [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
                       Value distance = arith::SubFOp::create(in, x[1], x[0]);
                       return x.size() > 2 ? arith::MulFOp::create(in, distance, x[2]) : distance;
                     });
  return elementwise(b, sum, rowType, [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    double share = smoothing / double(classCount());
    return arith::MulFOp::create(in, x[0], constant(in, x[0].getType(), share));
  });
}

Value Loss::smoothed(ImplicitLocOpBuilder &in, Value label, Value own, Value spread) {
  Type element = type.getElementType();
  Value kept = arith::MulFOp::create(in, own, constant(in, element, 1 - smoothing));
  Value sum = arith::AddFOp::create(in, kept, spread);
  Value valid = isValid(in, label);
  return valid ? arith::SelectOp::create(in, valid, sum, constant(in, element, 0)).getResult()
               : sum;
}

Value Loss::sumOfClassWeights() {
  if (!weights)
    return {};
  return reduce(b, weights, {0}, Combine::Sum);
}

Value Loss::spreadSlope(ImplicitLocOpBuilder &in, Value klass, Value share, Value sumOfWeights) {
  Type element = type.getElementType();
  Value own = constant(in, element, 1), all = constant(in, element, double(classCount()));
  if (weights) {
    Value index = arith::IndexCastOp::create(in, in.getIndexType(), klass);
    own = tensor::ExtractOp::create(in, weights, index);
    all = tensor::ExtractOp::create(in, sumOfWeights, ValueRange());
  }
  Value slope = arith::SubFOp::create(in, arith::MulFOp::create(in, all, share), own);
  return arith::MulFOp::create(in, slope, constant(in, element, smoothing / double(classCount())));
}

LogicalResult lowerLossRows(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                            Lowered &lowered) {
  Loss loss(node, builder, inputs);
  if (inputs.size() > 2)
    loss.weights = inputs[2];
  Value lse = loss.withExp ? loss.logSumExp() : filled(loss.b, loss.rowType, 0);
  auto rowLoss = [&](ImplicitLocOpBuilder &in, ValueRange x) {
    Value own = loss.counted().lossOf(in, x[0], x[1], loss.scoreOf(in, x[0]));
    return x.size() > 2 ? loss.smoothed(in, x[0], own, x[2]) : own;
  };
  SmallVector<Value> perRow{loss.labels, lse};
  if (loss.smoothing != 0)
    perRow.push_back(loss.spreadLoss(lse));
  Value rows = elementwise(loss.b, perRow, loss.rowType, rowLoss);
  bool summed = node.getNumResults() == 3;
  if (summed) {
    rows = sumRows(loss.b, rows, loss.rowType,
                   [](ImplicitLocOpBuilder &, ValueRange x) { return x[0]; });
    lowered.results = {rows, loss.counted().sumWeights(loss.b, loss.labels), lse};
  } else {
    lowered.results = {rows, lse};
  }
  lowered.checks.push_back(loss.counted().check(loss.b, loss.labels));
  return success();
}

LogicalResult lowerLossGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                            Lowered &lowered) {
  Loss loss(node, builder, inputs.drop_front());
  if (inputs.size() > 4)
    loss.weights = inputs[4];
  Value coordinate = inputs.size() > 5 ? inputs[5] : Value();
  Value upstream = inputs[0], allWeights = loss.smoothing != 0 ? loss.sumOfClassWeights() : Value();
  AffineMap upstreamMap = tensorType(upstream).getRank() ? loss.perRow : AffineMap();
  auto body = [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Type element = loss.type.getElementType();
    Value label = x[2], zero = constant(in, element, 0);
    Value klass = arith::IndexCastOp::create(in, label.getType(),
                                             linalg::IndexOp::create(in, kClassAxis).getResult());
    if (int64_t begin = node.getInt("begin", 0))
      klass = arith::AddIOp::create(in, klass, constant(in, label.getType(), double(begin)));
    if (coordinate)
      klass = arith::AddIOp::create(in, klass, loss.beginOfShard(in, coordinate, label.getType()));
    Value isLabel = arith::CmpIOp::create(in, arith::CmpIPredicate::eq, klass, label);
    Value hit = arith::SelectOp::create(in, isLabel, constant(in, element, 1), zero);
    Value share = zero;
    if (loss.withExp)
      share = math::ExpOp::create(in, arith::SubFOp::create(in, x[1], x[3]));
    Value slope = arith::SubFOp::create(in, share, hit);
    Value factor = arith::MulFOp::create(in, x[0], loss.weightOf(in, label));
    Value grad = arith::MulFOp::create(in, factor, slope);
    if (loss.smoothing != 0) {
      Value kept = arith::MulFOp::create(in, grad, constant(in, element, 1 - loss.smoothing));
      Value spread = loss.spreadSlope(in, klass, share, allWeights);
      grad = arith::AddFOp::create(in, kept, arith::MulFOp::create(in, x[0], spread));
    }
    if (Value valid = loss.isValid(in, label))
      grad = arith::SelectOp::create(in, valid, grad, zero);
    return grad;
  };
  lowered.results.push_back(elementwise(loss.b, {upstream, loss.scores, loss.labels, inputs[3]},
                                        {upstreamMap, {}, loss.perRow, loss.perRow}, loss.type,
                                        body));
  return success();
}

LogicalResult lowerLabelWeights(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Type element = node.outputType(0).getElementType();
  Value weights = inputs.size() > 1 ? inputs[1] : Value();
  LossLabels labels{node, weights, weights ? tensorType(weights).getDimSize(0) : 0, element};
  lowered.results.push_back(labels.sumWeights(b, inputs[0]));
  return success();
}

LogicalResult lowerCheckPositive(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  // A copy: every kernel writes its own result.
  lowered.results.push_back(elementwise(b, inputs[0], node.outputType(0),
                                        [](ImplicitLocOpBuilder &, ValueRange x) { return x[0]; }));
  Value flags = elementwise(b, inputs[0], RankedTensorType::get({2}, b.getI64Type()),
                            [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
                              Value positive =
                                  arith::CmpFOp::create(in, arith::CmpFPredicate::OGT, x[0],
                                                        constant(in, x[0].getType(), 0));
                              return arith::ExtUIOp::create(in, in.getI64Type(), positive);
                            });
  lowered.checks.push_back(
      {flags, 1, 1, "no valid label in the batch: every label equals ignore_index"});
  return success();
}

} // namespace zero::ops
