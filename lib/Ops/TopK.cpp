//===- TopK.cpp -----------------------------------------------------------===//
//
// ONNX TopK with a constant K, from opset 10 on: the largest or smallest K
// elements along `axis`, always in order; of equal ones the lower index comes
// first, and a NaN counts as larger than all numbers. Each result is found by one pass over the
// row, which searches for the element that follows the previous one in that order. The cost is K
// times the row, which suits the few experts or beams for which K is used.
//
// Gradient of the values: zero::GatherElementsGrad with TopK's own indices.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// The order of elements: which of two comes first.
struct Order {
  bool largest, isUnsigned;

  /// Whether `a` comes before `c`, which differ.
  Value precedes(ImplicitLocOpBuilder &b, Value a, Value c) const {
    if (!largest)
      std::swap(a, c);
    if (isa<IntegerType>(a.getType())) {
      auto greater = isUnsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
      return arith::CmpIOp::create(b, greater, a, c);
    }
    Value greater = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, a, c);
    Value onlyNaN =
        arith::AndIOp::create(b, arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, a, a),
                              arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, c, c));
    return arith::OrIOp::create(b, greater, onlyNaN);
  }

  /// Whether (a, i) comes before (c, j).
  Value precedes(ImplicitLocOpBuilder &b, Value a, Value i, Value c, Value j) const {
    Value before = precedes(b, a, c), after = precedes(b, c, a);
    Value lower = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, i, j);
    Value tied = arith::XOrIOp::create(b, after, constant(b, b.getI1Type(), 1));
    return arith::OrIOp::create(b, before, arith::AndIOp::create(b, tied, lower));
  }
};

/// The rows of one TopK: [outer, extent, inner], of which `count` are taken.
struct Rows {
  int64_t outer, extent, inner, count;
  Order order;
};
} // namespace

/// The index along the row through `point` of the element that follows the previous one.
static Value nextIndex(ImplicitLocOpBuilder &b, const Rows &rows, Value input, Value indices,
                       ValueRange point) {
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  Value none = constant(b, b.getI64Type(), -1);
  auto load = [&](ImplicitLocOpBuilder &in, Value at) -> Value {
    return tensor::ExtractOp::create(in, input, ValueRange{point[0], at, point[2]});
  };
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, point[1], zero);
  Value place = arith::SelectOp::create(b, isFirst, zero,
                                        arith::SubIOp::create(b, point[1], one).getResult());
  Value last = tensor::ExtractOp::create(b, indices, ValueRange{point[0], place, point[2]});
  Value lastAt = arith::IndexCastOp::create(b, b.getIndexType(), last);
  Value lastElement = load(b, lastAt);
  auto loop = scf::ForOp::create(
      b, zero, arith::ConstantIndexOp::create(b, rows.extent), one, ValueRange{none, lastElement},
      [&](OpBuilder &inner, Location loc, Value at, ValueRange best) {
        ImplicitLocOpBuilder in(loc, inner);
        Value element = load(in, at);
        Value index = arith::IndexCastOp::create(in, in.getI64Type(), at);
        Value follows = rows.order.precedes(in, lastElement, last, element, index);
        Value isLeft = arith::OrIOp::create(in, isFirst, follows);
        Value isEmpty = arith::CmpIOp::create(in, arith::CmpIPredicate::eq, best[0], none);
        Value better = arith::OrIOp::create(in, isEmpty, rows.order.precedes(in, element, best[1]));
        Value taken = arith::AndIOp::create(in, isLeft, better);
        scf::YieldOp::create(
            in, ValueRange{arith::SelectOp::create(in, taken, index, best[0]).getResult(),
                           arith::SelectOp::create(in, taken, element, best[1]).getResult()});
      });
  return loop.getResult(0);
}

static FailureOr<Rows> rowsOf(onnx::NodeOp node) {
  auto count = requireInts(node, 1, "K");
  if (failed(count))
    return failure();
  ArrayRef<int64_t> shape = node.inputType(0).getShape();
  int64_t axis = normalAxis(node.getInt("axis", -1), shape.size());
  if (count->front() < 0 || count->front() > shape[axis])
    return nodeError(node) << "expected K from 0 to " << shape[axis] << ", got " << count->front();
  return Rows{product(shape.take_front(axis)),
              shape[axis],
              product(shape.drop_front(axis + 1)),
              count->front(),
              {node.getInt("largest", 1) != 0, isUnsigned(node, 0)}};
}

static LogicalResult lowerTopK(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  FailureOr<Rows> rows = rowsOf(node);
  if (failed(rows))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType type = node.inputType(0);
  Value input = reshaped(b, inputs[0], type.clone({rows->outer, rows->extent, rows->inner}));
  auto taken = RankedTensorType::get({rows->outer, rows->count, rows->inner}, b.getI64Type());
  Value indices =
      forEachIndex(b, taken.getShape(), filled(b, taken, 0),
                   [&](ImplicitLocOpBuilder &s, ValueRange point, Value carried) -> Value {
                     Value index = nextIndex(s, *rows, input, carried, point);
                     return tensor::InsertOp::create(s, index, carried, point);
                   });
  Value values = elementwise(
      b, indices, taken.clone(type.getElementType()), [&](ImplicitLocOpBuilder &s, ValueRange x) {
        Value at = arith::IndexCastOp::create(s, s.getIndexType(), x[0]);
        Value outer = linalg::IndexOp::create(s, 0), inner = linalg::IndexOp::create(s, 2);
        return tensor::ExtractOp::create(s, input, ValueRange{outer, at, inner}).getResult();
      });
  lowered.results.push_back(reshaped(b, values, node.outputType(0)));
  if (node.getNumResults() > 1)
    lowered.results.push_back(reshaped(b, indices, node.outputType(1)));
  return success();
}

static LogicalResult topKGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (!wanted[0] || !dy[0])
    return success();
  if (node.getNumResults() < 2 || !isa<RankedTensorType>(node.getResult(1).getType()))
    return nodeError(node) << "expected the result Indices, which the gradient needs";
  int64_t axis = normalAxis(node.getInt("axis", -1), node.inputType(0).getRank());
  grads[0] =
      builder
          .create(own::GatherElementsGrad, node.inputType(0), {dy[0], node.getResult(1)},
                  {builder.attr("axis", axis), builder.attr("shape", node.inputType(0).getShape())})
          .getResult(0);
  return success();
}

void registerTopK() {
  registerAnySign(OpDef{op::TopK, 10, kNewestOpset, Kind::Other, lowerTopK, topKGradient}.dividedBy(
      factorsAcrossAxis<-1>));
}

} // namespace zero::ops
