//===- Reduction.cpp - reductions over axes -------------------------------===//
//
// ONNX ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL2,
// ReduceSumSquare (opset 13 on): axes are an attribute or, since 13 (Sum) and 18
// (the others), a constant operand; keepdims; noop_with_empty_axes.
//
// Gradients, broadcast back over the axes: Sum dy, Mean dy / n, SumSquare 2 x dy,
// L2 x dy / y (0 where y = 0). Max and Min: dy in equal parts to the elements
// that equal the result (torch.amax's choice for ties).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace zero::ops {

/// The axes to reduce, from the front and in order; with none of them, what a
/// node does to single elements (a square, say) still happens.
static FailureOr<SmallVector<int64_t>> reducedAxes(onnx::NodeOp node) {
  int64_t rank = node.inputType(0).getRank();
  SmallVector<int64_t> axes = node.getInts("axes").value_or(SmallVector<int64_t>());
  if (node.hasInput(1)) {
    std::optional<SmallVector<int64_t>> given = constantInts(node.getInputs()[1]);
    if (!given)
      return node.emitError() << "expected constant axes in " << node.describe();
    axes = *given;
  }
  if (axes.empty() && node.getInt("noop_with_empty_axes", 0) == 0)
    return llvm::to_vector(llvm::seq<int64_t>(rank));
  for (int64_t &axis : axes) {
    if (axis < -rank || axis >= rank)
      return node.emitError() << "expected axes in [" << -rank << ", " << rank << ") in "
                              << node.describe() << ", got " << axis;
    axis = normalAxis(axis, rank);
  }
  llvm::sort(axes);
  axes.erase(llvm::unique(axes), axes.end());
  return axes;
}

static int64_t reducedCount(RankedTensorType type, ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= type.getDimSize(axis);
  return count;
}

/// What is done to each element before it is combined, and to the result.
using BeforeFn = Value (*)(ImplicitLocOpBuilder &, Value);
using AfterFn = Value (*)(ImplicitLocOpBuilder &, Value, int64_t count);

static Value square(ImplicitLocOpBuilder &b, Value x) {
  if (isa<IntegerType>(x.getType()))
    return arith::MulIOp::create(b, x, x);
  return arith::MulFOp::create(b, x, x);
}

static Value same(ImplicitLocOpBuilder &, Value x) { return x; }

static Value divideByCount(ImplicitLocOpBuilder &b, Value sum, int64_t count) {
  Value divisor = constant(b, sum.getType(), double(count));
  if (isa<IntegerType>(sum.getType()))
    return arith::DivSIOp::create(b, sum, divisor);
  return arith::DivFOp::create(b, sum, divisor);
}

static Value squareRoot(ImplicitLocOpBuilder &b, Value sum, int64_t) {
  return math::SqrtOp::create(b, sum);
}

template <Combine combine, BeforeFn before, AfterFn after>
static LogicalResult lowerReduction(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                    Lowered &lowered) {
  FailureOr<SmallVector<int64_t>> axes = reducedAxes(node);
  if (failed(axes))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType space = node.inputType(0);
  Value result =
      reduce(b, inputs[0], {}, space, *axes, combine,
             [](ImplicitLocOpBuilder &inner, ValueRange x) { return before(inner, x[0]); });
  if constexpr (after != nullptr)
    result =
        elementwise(b, result, tensorType(result), [&](ImplicitLocOpBuilder &inner, ValueRange x) {
          return after(inner, x[0], reducedCount(space, *axes));
        });
  lowered.results.push_back(reshaped(b, result, node.outputType(0)));
  return success();
}

/// `value`, shaped as the result, with the reduced axes as dimensions of size 1.
static Value kept(onnx::NodeOp node, NodeBuilder &builder, ArrayRef<int64_t> axes, Value value) {
  SmallVector<int64_t> shape(node.inputType(0).getShape());
  for (int64_t axis : axes)
    shape[axis] = 1;
  return builder.reshape(value, shape);
}

/// The operand's gradient, or something that broadcasts to it, from the result's
/// gradient and the result, both with the reduced axes kept.
using SlopeFn = Value (*)(NodeBuilder &, Value x, Value dy, Value y, ArrayRef<int64_t> axes);

template <SlopeFn slope>
static LogicalResult reductionGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                       NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (!wanted[0])
    return success();
  FailureOr<SmallVector<int64_t>> axes = reducedAxes(node);
  if (failed(axes))
    return failure();
  Value grad = slope(builder, node.getInputs()[0], kept(node, builder, *axes, dy[0]),
                     kept(node, builder, *axes, node.getOutputs()[0]), *axes);
  grads[0] = builder.expand(grad, node.inputType(0).getShape());
  return success();
}

static Value sumSlope(NodeBuilder &, Value, Value dy, Value, ArrayRef<int64_t>) { return dy; }

static Value meanSlope(NodeBuilder &b, Value x, Value dy, Value, ArrayRef<int64_t> axes) {
  return b.div(dy, b.scalar(double(reducedCount(tensorType(x), axes)), dy.getType()));
}

static Value sumSquareSlope(NodeBuilder &b, Value x, Value dy, Value, ArrayRef<int64_t>) {
  return b.mul(x, b.mul(dy, b.scalar(2, dy.getType())));
}

static Value l2Slope(NodeBuilder &b, Value x, Value dy, Value y, ArrayRef<int64_t>) {
  Value zero = b.scalar(0, dy.getType());
  Value factor = b.where(b.binary("Equal", y, zero), zero, b.div(dy, y));
  return b.mul(x, factor);
}

static Value extremeSlope(NodeBuilder &b, Value x, Value dy, Value y, ArrayRef<int64_t> axes) {
  Value chosen = b.binary("Equal", x, y);
  Type element = tensorType(dy).getElementType();
  Value count = b.reduceSum(b.cast(chosen, element), axes, /*keepdims=*/true);
  return b.where(chosen, b.div(dy, count), b.scalar(0, element));
}

/// Silence would train wrongly, so this one refuses.
static LogicalResult noProductGradient(onnx::NodeOp node, ValueRange, ArrayRef<bool>, NodeBuilder &,
                                       MutableArrayRef<Value>) {
  return node.emitError() << "no gradient for " << node.describe();
}

static void add(llvm::StringLiteral type, LowerFn lower, GradientFn gradient) {
  registerOp({"", type, 13, 23, Kind::Rows, lower, gradient});
}

void registerReduction() {
  using C = Combine;
  add("ReduceSum", lowerReduction<C::Sum, same, nullptr>, reductionGradient<sumSlope>);
  add("ReduceMean", lowerReduction<C::Sum, same, divideByCount>, reductionGradient<meanSlope>);
  add("ReduceMax", lowerReduction<C::Max, same, nullptr>, reductionGradient<extremeSlope>);
  add("ReduceMin", lowerReduction<C::Min, same, nullptr>, reductionGradient<extremeSlope>);
  add("ReduceProd", lowerReduction<C::Product, same, nullptr>, noProductGradient);
  add("ReduceSumSquare", lowerReduction<C::Sum, square, nullptr>,
      reductionGradient<sumSquareSlope>);
  add("ReduceL2", lowerReduction<C::Sum, square, squareRoot>, reductionGradient<l2Slope>);
}

} // namespace zero::ops
