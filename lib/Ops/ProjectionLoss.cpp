//===- ProjectionLoss.cpp - a cross-entropy in tiles of classes -----------===//
//
// zero: ProjectionLoss(x, labels, weights or none, w0, w1, ..) {transB, and what
// CrossEntropySum has} is the CrossEntropySum of the product of x, one row for each label,
// with a projection that is cut into parts of the classes. Its gradient is
// ProjectionLossGrad(dsum, lse, and the same operands) -> (dx, dw0, dw1, ..). Neither is
// lowered: zero-tile-vocabulary writes them out with
//   LossPart(scores, labels, [top, sum, own]) {begin} -> (top, sum, own): for each row the
//     largest score so far, the sum of exp(score - top) so far, and the label's score, if it
//     is one of the classes so far; scores are those of classes from `begin` on
//   LossJoin(parts) -> (top, sum, own) of [ranks, 3, rows], which the ranks have for parts of the
//     classes each
//   LossEnd(top, sum, own, labels, [weights]) {classes} -> the results of CrossEntropySum
// and with CrossEntropyGrad. An online sum: arXiv 1805.02867, algorithm 3.
//
//===----------------------------------------------------------------------===//

#include "LossLabels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

static LogicalResult gradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                              NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (!dy[0])
    return success();
  SmallVector<Value> inputs{dy[0], node.getOutputs().back()};
  llvm::append_range(inputs, node.getInputs());
  SmallVector<Type> types{node.getInputs()[0].getType()};
  llvm::append_range(types, node.getInputs().drop_front(3).getTypes());
  auto grad = builder.create(own::ProjectionLossGrad, types, inputs, node.getAttrs().getValue());
  grads[0] = grad.getResult(0);
  for (auto [index, result] : llvm::enumerate(grad.getOutputs().drop_front()))
    grads[3 + index] = result;
  return success();
}

namespace {
/// The operands of a LossPart.
struct LossPart {
  LossPart(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder)
      : b(node.getLoc(), builder), begin(node.getInt("begin", 0)), scores(inputs[0]),
        labels(inputs[1]), type(tensorType(scores)),
        rowType(tensorType(labels).clone(type.getElementType())) {
    if (inputs.size() > 2)
      before = llvm::to_vector(inputs.drop_front(2));
  }

  Value largest();
  Value shiftBy(Value top);
  Value sumOfExp(Value shift);
  Value scoreOfLabel();

  ImplicitLocOpBuilder b;
  int64_t begin;
  Value scores, labels;
  SmallVector<Value> before; ///< top, sum and own of the parts before, if there are any
  RankedTensorType type, rowType;
};
} // namespace

Value LossPart::largest() {
  Value top = reduce(b, scores, 1, Combine::Max);
  if (before.empty())
    return top;
  return elementwise(b, {top, before[0]}, rowType, [](ImplicitLocOpBuilder &in, ValueRange x) {
    return arith::MaximumFOp::create(in, x[0], x[1]).getResult();
  });
}

/// The number that is subtracted from scores before exp: `top`, or 0 if no score is finite yet.
Value LossPart::shiftBy(Value top) {
  return elementwise(b, top, rowType, [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Type element = x[0].getType();
    Value none = constant(in, element, -std::numeric_limits<double>::infinity());
    Value isNone = arith::CmpFOp::create(in, arith::CmpFPredicate::OEQ, x[0], none);
    return arith::SelectOp::create(in, isNone, constant(in, element, 0), x[0]);
  });
}

Value LossPart::sumOfExp(Value shift) {
  auto perRow = AffineMap::getMultiDimIdentityMap(2, b.getContext()).dropResult(1);
  auto exp = [](ImplicitLocOpBuilder &in, Value score, Value shift) -> Value {
    return math::ExpOp::create(in, arith::SubFOp::create(in, score, shift));
  };
  Value sum = reduce(b, {scores, shift}, {{}, perRow}, type, 1, Combine::Sum,
                     [&](ImplicitLocOpBuilder &in, ValueRange x) { return exp(in, x[0], x[1]); });
  if (before.empty())
    return sum;
  auto add = [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Value old = arith::MulFOp::create(in, x[1], exp(in, x[2], x[3]));
    return arith::AddFOp::create(in, x[0], old);
  };
  return elementwise(b, {sum, before[1], before[0], shift}, rowType, add);
}

Value LossPart::scoreOfLabel() {
  SmallVector<Value> operands{labels};
  if (!before.empty())
    operands.push_back(before[2]);
  return elementwise(b, operands, rowType, [&](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Value label = arith::IndexCastOp::create(in, in.getIndexType(), x[0]);
    Value at = arith::SubIOp::create(in, label, arith::ConstantIndexOp::create(in, begin));
    Value end = arith::ConstantIndexOp::create(in, type.getDimSize(1));
    Value isOwn = arith::CmpIOp::create(in, arith::CmpIPredicate::ult, at, end);
    Value column = arith::SelectOp::create(in, isOwn, at, arith::ConstantIndexOp::create(in, 0));
    SmallVector<Value> position{linalg::IndexOp::create(in, 0), column};
    Value score = tensor::ExtractOp::create(in, scores, position);
    Value old = x.size() > 1 ? x[1] : constant(in, score.getType(), 0);
    return arith::SelectOp::create(in, isOwn, score, old);
  });
}

static LogicalResult lowerLossPart(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                   Lowered &lowered) {
  LossPart part(node, inputs, builder);
  Value top = part.largest();
  lowered.results = {top, part.sumOfExp(part.shiftBy(top)), part.scoreOfLabel()};
  return success();
}

/// Row `index` of dimension 1 of `parts`.
static Value statistic(ImplicitLocOpBuilder &b, Value parts, int64_t index) {
  RankedTensorType type = tensorType(parts);
  auto attr = [&](int64_t value) { return OpFoldResult(b.getIndexAttr(value)); };
  SmallVector<OpFoldResult> offsets{attr(0), attr(index), attr(0)},
      sizes{attr(type.getDimSize(0)), attr(1), attr(type.getDimSize(2))}, strides(3, attr(1));
  return tensor::ExtractSliceOp::create(b, type.clone({type.getDimSize(0), type.getDimSize(2)}),
                                        parts, offsets, sizes, strides);
}

static LogicalResult lowerLossJoin(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                   Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Value tops = statistic(b, inputs[0], 0), sums = statistic(b, inputs[0], 1);
  Value top = reduce(b, tops, 0, Combine::Max);
  auto perRow = AffineMap::getMultiDimIdentityMap(2, b.getContext()).dropResult(0);
  auto scaled = [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
    Value none = constant(in, x[0].getType(), -std::numeric_limits<double>::infinity());
    Value isNone = arith::CmpFOp::create(in, arith::CmpFPredicate::OEQ, x[2], none);
    Value shift = arith::SelectOp::create(in, isNone, constant(in, x[0].getType(), 0), x[2]);
    Value factor = math::ExpOp::create(in, arith::SubFOp::create(in, x[1], shift));
    return arith::MulFOp::create(in, x[0], factor);
  };
  Value sum =
      reduce(b, {sums, tops, top}, {{}, {}, perRow}, tensorType(sums), 0, Combine::Sum, scaled);
  lowered.results = {top, sum, reduce(b, statistic(b, inputs[0], 2), 0, Combine::Sum)};
  return success();
}

static LogicalResult lowerLossEnd(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                  Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType rowType = tensorType(inputs[0]);
  Value labels = inputs[3], weights = inputs.size() > 4 ? inputs[4] : Value();
  LossLabels counted{node, weights, node.getInt("classes", 0), rowType.getElementType()};
  Value lse = elementwise(b, {inputs[0], inputs[1]}, rowType,
                          [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
                            return arith::AddFOp::create(in, x[0], math::LogOp::create(in, x[1]));
                          });
  Value rows = elementwise(
      b, {labels, lse, inputs[2]}, rowType,
      [&](ImplicitLocOpBuilder &in, ValueRange x) { return counted.lossOf(in, x[0], x[1], x[2]); });
  Value sum = sumRows(b, rows, rowType, [](ImplicitLocOpBuilder &, ValueRange x) { return x[0]; });
  lowered.results = {sum, counted.sumWeights(b, labels), lse};
  lowered.checks.push_back(counted.check(b, labels));
  return success();
}

void registerProjectionLoss() {
  registerOp(OpDef{own::ProjectionLoss, 1, 1, Kind::Other, nullptr, gradient}.keepsWide());
  registerOp({own::ProjectionLossGrad, 1, 1, Kind::Other});
  registerOp(OpDef{own::LossPart, 1, 1, Kind::Rows, lowerLossPart}.keepsWide());
  registerOp(OpDef{own::LossJoin, 1, 1, Kind::Other, lowerLossJoin}.keepsWide());
  registerOp(OpDef{own::LossEnd, 1, 1, Kind::Rows, lowerLossEnd}.keepsWide());
}

} // namespace zero::ops
