//===- CrossEntropyLowering.cpp - loops of the losses ---------------------===//
//
// What the nodes compute: CrossEntropy.cpp. A label outside the classes never
// reads outside the scores: it is moved inside, and the check that goes with
// every loss then stops the step.
//
//===----------------------------------------------------------------------===//

#include "CrossEntropy.h"
#include "LossLabels.h"

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
        withExp(!node.getOpType().starts_with("Nll")) {}

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

  Value logSumExp();
  ImplicitLocOpBuilder b;
  onnx::NodeOp node;
  Value scores, labels, weights;
  RankedTensorType type, rowType;
  AffineMap perRow;
  bool withExp;
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

LogicalResult lowerLossRows(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                            Lowered &lowered) {
  Loss loss(node, builder, inputs);
  if (inputs.size() > 2)
    loss.weights = inputs[2];
  Value lse = loss.withExp ? loss.logSumExp() : filled(loss.b, loss.rowType, 0);
  auto rowLoss = [&](ImplicitLocOpBuilder &in, ValueRange x) {
    return loss.counted().lossOf(in, x[0], x[1], loss.scoreOf(in, x[0]));
  };
  Value rows = elementwise(loss.b, {loss.labels, lse}, loss.rowType, rowLoss);
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
  Value upstream = inputs[0];
  AffineMap upstreamMap = tensorType(upstream).getRank() ? loss.perRow : AffineMap();
  auto body = [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Type element = loss.type.getElementType();
    Value label = x[2], zero = constant(in, element, 0);
    Value klass = arith::IndexCastOp::create(in, label.getType(),
                                             linalg::IndexOp::create(in, kClassAxis).getResult());
    if (int64_t begin = node.getInt("begin", 0))
      klass = arith::AddIOp::create(in, klass, constant(in, label.getType(), double(begin)));
    Value isLabel = arith::CmpIOp::create(in, arith::CmpIPredicate::eq, klass, label);
    Value hit = arith::SelectOp::create(in, isLabel, constant(in, element, 1), zero);
    Value share = zero;
    if (loss.withExp)
      share = math::ExpOp::create(in, arith::SubFOp::create(in, x[1], x[3]));
    Value slope = arith::SubFOp::create(in, share, hit);
    Value factor = arith::MulFOp::create(in, x[0], loss.weightOf(in, label));
    Value grad = arith::MulFOp::create(in, factor, slope);
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
