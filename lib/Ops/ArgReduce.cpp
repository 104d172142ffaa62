//===- ArgReduce.cpp - ArgMax and ArgMin ----------------------------------===//
//
// ONNX ArgMax, ArgMin (axis, keepdims, select_last_index) and Hardmax, which is 1
// where ArgMax points to (axis; from opset 13 on). A NaN counts as the largest and
// as the smallest, as numpy has it. Indices: no gradient.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace zero::ops {

/// Whether element `x` is the one that `best` was reduced from.
static Value isBest(ImplicitLocOpBuilder &b, Value x, Value best) {
  if (isa<IntegerType>(x.getType()))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, best);
  Value equal = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, best);
  return arith::OrIOp::create(b, equal, arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x));
}

/// The index of the first best element along `axis`, or of the last one.
static Value indexOfBest(ImplicitLocOpBuilder &b, Value input, int64_t axis, Combine combine,
                         bool last) {
  RankedTensorType type = tensorType(input);
  Value best = reduce(b, input, axis, combine);
  AffineMap perRow = withoutAxes(b.getContext(), type.getRank(), axis);
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange x) -> Value {
    Value index = arith::IndexCastOp::create(inner, inner.getI64Type(),
                                             linalg::IndexOp::create(inner, axis).getResult());
    Value none = arith::ConstantOp::create(
        inner, inner.getI64IntegerAttr(last ? -1 : std::numeric_limits<int64_t>::max()));
    return arith::SelectOp::create(inner, isBest(inner, x[0], x[1]), index, none);
  };
  return reduce(b, {input, best}, {{}, perRow}, type.clone(b.getI64Type()), axis,
                last ? Combine::Max : Combine::Min, body);
}

template <Combine combine>
static LogicalResult lowerArg(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                              Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  int64_t axis = normalAxis(node.getInt("axis", 0), node.inputType(0).getRank());
  bool last = node.getInt("select_last_index", 0) != 0;
  Value index = indexOfBest(b, inputs[0], axis, forSign(node, 0, combine), last);
  lowered.results.push_back(reshaped(b, index, node.outputType(0)));
  return success();
}

static LogicalResult lowerHardmax(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                  Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType type = node.outputType(0);
  int64_t axis = normalAxis(node.getInt("axis", -1), type.getRank());
  Value best = indexOfBest(b, inputs[0], axis, Combine::Max, /*last=*/false);
  AffineMap perRow = withoutAxes(b.getContext(), type.getRank(), axis);
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange x) -> Value {
    Value index = arith::IndexCastOp::create(inner, inner.getI64Type(),
                                             linalg::IndexOp::create(inner, axis).getResult());
    Value here = arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, index, x[0]);
    return arith::UIToFPOp::create(inner, type.getElementType(), here);
  };
  lowered.results.push_back(elementwise(b, best, perRow, type, body));
  return success();
}

void registerArgReduce() {
  registerAnySign(
      OpDef{op::ArgMax, 7, kNewestOpset, Kind::Rows, lowerArg<Combine::Max>}.piecewise().dividedBy(
          factorsAcrossAxis<0>));
  registerAnySign(
      OpDef{op::ArgMin, 7, kNewestOpset, Kind::Rows, lowerArg<Combine::Min>}.piecewise().dividedBy(
          factorsAcrossAxis<0>));
  registerOp(
      OpDef{{"", "Hardmax"}, 13, kNewestOpset, Kind::Rows, lowerHardmax}.piecewise().dividedBy(
          factorsAcrossAxis<-1>));
}

} // namespace zero::ops
