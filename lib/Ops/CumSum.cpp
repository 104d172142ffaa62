//===- CumSum.cpp ---------------------------------------------------------===//
//
// ONNX: CumSum with a constant axis; opsets 13 to 23. Sums run
// in order along the axis. Gradient: CumSum of dy in the other direction.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// A walk along the middle dimension of [outer, extent, inner].
struct Walk {
  int64_t outer, extent, inner;
  bool exclusive, reverse;

  /// The position after which `position` comes, out of range for the first.
  Value before(ImplicitLocOpBuilder &b, Value position) const {
    Value step = arith::ConstantIndexOp::create(b, reverse ? 1 : -1);
    return arith::AddIOp::create(b, position, step);
  }
};
} // namespace

static Value sumOf(ImplicitLocOpBuilder &b, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::AddFOp::create(b, x, y);
  return arith::AddIOp::create(b, x, y);
}

/// The sum up to `point`, from that up to the position before it.
static Value runningSum(ImplicitLocOpBuilder &b, const Walk &walk, Value input, Value sums,
                        ArrayRef<Value> point) {
  Type element = tensorType(input).getElementType();
  SmallVector<Value> last(point);
  last[1] = walk.before(b, point[1]);
  Value extent = arith::ConstantIndexOp::create(b, walk.extent);
  // Unsigned: -1 and the extent itself are both outside.
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, last[1], extent);
  last[1] = arith::SelectOp::create(b, inside, last[1], point[1]);
  Value zero = constant(b, element, 0);
  Value sum = tensor::ExtractOp::create(b, sums, last);
  sum = arith::SelectOp::create(b, inside, sum, zero);
  Value added =
      tensor::ExtractOp::create(b, input, walk.exclusive ? last : SmallVector<Value>(point));
  if (walk.exclusive)
    added = arith::SelectOp::create(b, inside, added, zero);
  return sumOf(b, sum, added);
}

static LogicalResult lowerCumSum(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                 Lowered &lowered) {
  auto given = requireInts(node, 1, "axis");
  if (failed(given))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType type = node.outputType(0);
  ArrayRef<int64_t> shape = type.getShape();
  int64_t axis = normalAxis(given->front(), type.getRank());
  Walk walk{product(shape.take_front(axis)), shape[axis], product(shape.drop_front(axis + 1)),
            node.getInt("exclusive", 0) != 0, node.getInt("reverse", 0) != 0};
  auto walked = type.clone({walk.outer, walk.extent, walk.inner});
  Value input = reshaped(b, inputs.front(), walked);
  // The first sum reads its own place before it is written: zeros, not garbage.
  Value sums =
      forEachIndex(b, walked.getShape(), filled(b, walked, 0),
                   [&](ImplicitLocOpBuilder &s, ValueRange point, Value carried) -> Value {
                     SmallVector<Value> at(point);
                     if (walk.reverse)
                       at[1] = arith::SubIOp::create(
                           s, arith::ConstantIndexOp::create(s, walk.extent - 1), point[1]);
                     Value sum = runningSum(s, walk, input, carried, at);
                     return tensor::InsertOp::create(s, sum, carried, at);
                   });
  lowered.results.push_back(reshaped(b, sums, type));
  return success();
}

static LogicalResult cumSumGradient(onnx::NodeOp node, ValueRange outputGrads,
                                    ArrayRef<bool> wanted, NodeBuilder &builder,
                                    MutableArrayRef<Value> inputGrads) {
  if (!wanted.front() || !outputGrads.front())
    return success();
  int64_t opposite = node.getInt("reverse", 0) ? 0 : 1;
  inputGrads.front() =
      builder
          .create("", "CumSum", node.inputType(0), {outputGrads.front(), node.getInputs()[1]},
                  {builder.attr("exclusive", node.getInt("exclusive", 0)),
                   builder.attr("reverse", opposite)})
          .getResult(0);
  return success();
}

void registerCumSum() {
  registerOp({"", "CumSum", 13, 23, Kind::Other, lowerCumSum, cumSumGradient});
}

} // namespace zero::ops
