//===- Reduction.cpp - reductions over axes -------------------------------===//
//
// ONNX ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL1, ReduceL2,
// ReduceSumSquare, ReduceLogSum, ReduceLogSumExp: axes are an attribute or, since 13
// (Sum) and 18 (the others), a constant operand; keepdims; noop_with_empty_axes.
// LogSumExp shifts by the largest element, so that no exponential overflows.
//
// Gradients, broadcast back over the axes: Sum dy, Mean dy / n, SumSquare 2 x dy,
// L1 dy sign x, L2 x dy / y (0 where y = 0), LogSum dy exp(-y), LogSumExp
// dy exp(x - y). Max and Min: dy in equal parts to the elements that equal the
// result, as torch.amax has it, or with {first_of_equal} to the first of them along
// the one axis, as torch.max(dim) has it. Prod: dy times the product of the others,
// as running products from both ends, which zeros do not disturb.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "zero/Evaluate/Elements.h"
#include "zero/Ops/Axes.h"
#include "zero/Ops/CallAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <limits>

using namespace mlir;

namespace zero::ops {

/// The axes to reduce, non-negative and in order. Without axes, the operation on single elements (a
/// square, for example) still applies.
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

/// The operation on each element before it is combined, and on the result.
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

static Value magnitude(ImplicitLocOpBuilder &b, Value x) {
  if (isa<IntegerType>(x.getType()))
    return math::AbsIOp::create(b, x);
  return math::AbsFOp::create(b, x);
}

static Value squareRoot(ImplicitLocOpBuilder &b, Value sum, int64_t) {
  return math::SqrtOp::create(b, sum);
}

static Value logarithm(ImplicitLocOpBuilder &b, Value sum, int64_t) {
  return math::LogOp::create(b, sum);
}

template <Combine combine, BeforeFn before, AfterFn after>
static LogicalResult lowerReduction(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                    Lowered &lowered) {
  constexpr bool needsFloat = after == squareRoot || after == logarithm;
  FailureOr<SmallVector<int64_t>> axes = reducedAxes(node);
  if (failed(axes) || (needsFloat && failed(requireFloat(node))))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType space = node.inputType(0);
  Value result =
      reduce(b, inputs[0], {}, space, *axes, forSign(node, 0, combine),
             [](ImplicitLocOpBuilder &inner, ValueRange x) { return before(inner, x[0]); });
  if constexpr (after != nullptr)
    result =
        elementwise(b, result, tensorType(result), [&](ImplicitLocOpBuilder &inner, ValueRange x) {
          return after(inner, x[0], reducedCount(space, *axes));
        });
  lowered.results.push_back(reshaped(b, result, node.outputType(0)));
  return success();
}

/// log of the sum of exp(x - m), plus m, the largest x. If m is infinite, 0 is used instead.
static LogicalResult lowerLogSumExp(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                    Lowered &lowered) {
  FailureOr<SmallVector<int64_t>> axes = reducedAxes(node);
  if (failed(axes) || failed(requireFloat(node)))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  RankedTensorType space = node.inputType(0);
  Value largest = reduce(b, inputs[0], *axes, Combine::Max);
  Value top = elementwise(
      b, largest, tensorType(largest), [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
        Value rest = arith::SubFOp::create(in, x[0], x[0]);
        Value isFinite = arith::CmpFOp::create(in, arith::CmpFPredicate::ORD, rest, rest);
        return arith::SelectOp::create(in, isFinite, x[0], constant(in, x[0].getType(), 0));
      });
  AffineMap kept = withoutAxes(b.getContext(), space.getRank(), *axes);
  Value sum = reduce(b, {inputs[0], top}, {{}, kept}, space, *axes, Combine::Sum,
                     [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
                       return math::ExpOp::create(in, arith::SubFOp::create(in, x[0], x[1]));
                     });
  Value result = elementwise(
      b, {sum, top}, tensorType(sum), [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
        return arith::AddFOp::create(in, math::LogOp::create(in, x[0]), x[1]);
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
  Value factor = b.where(b.binary(op::Equal, y, zero), zero, b.div(dy, y));
  return b.mul(x, factor);
}

static Value l1Slope(NodeBuilder &b, Value x, Value dy, Value, ArrayRef<int64_t>) {
  return b.mul(dy, b.unary(op::Sign, x));
}

static Value logSumSlope(NodeBuilder &b, Value, Value dy, Value y, ArrayRef<int64_t>) {
  return b.mul(dy, b.unary(op::Exp, b.neg(y)));
}

static Value logSumExpSlope(NodeBuilder &b, Value x, Value dy, Value y, ArrayRef<int64_t>) {
  return b.mul(dy, b.unary(op::Exp, b.sub(x, y)));
}

static Value extremeSlope(NodeBuilder &b, Value x, Value dy, Value y, ArrayRef<int64_t> axes) {
  Value chosen = b.binary(op::Equal, x, y);
  Type element = tensorType(dy).getElementType();
  Value count = b.reduceSum(b.cast(chosen, element), axes, /*keepdims=*/true);
  return b.where(chosen, b.div(dy, count), b.scalar(0, element));
}

/// Whether an element is the first along `axis` that equals the extreme, as booleans.
static Value isFirstExtreme(NodeBuilder &b, Value x, onnx::Operator position, int64_t axis) {
  Builder &attrs = b.getBuilder();
  RankedTensorType type = tensorType(x);
  SmallVector<int64_t> kept(type.getShape()), line(type.getRank(), 1);
  kept[axis] = 1;
  line[axis] = type.getDimSize(axis);
  Value best = b.create(position, RankedTensorType::get(kept, attrs.getI64Type()), x,
                        {b.attr("axis", axis), b.attr("keepdims", int64_t(1))})
                   .getResult(0);
  Value places = b.indices(llvm::to_vector(llvm::seq<int64_t>(line[axis])));
  return b.binary(op::Equal, b.reshape(places, line), best);
}

template <const onnx::Operator &position>
static LogicalResult extremeGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                     NodeBuilder &builder, MutableArrayRef<Value> grads) {
  if (node.getInt(kFirstOfEqual, 0) == 0)
    return reductionGradient<extremeSlope>(node, dy, wanted, builder, grads);
  FailureOr<SmallVector<int64_t>> axes = reducedAxes(node);
  if (failed(axes) || !wanted[0])
    return failure(failed(axes));
  if (axes->size() != 1)
    return node.emitError() << "expected one axis with " << kFirstOfEqual << " in "
                            << node.describe() << ", got " << axes->size();
  Value zero = builder.scalar(0, dy[0].getType());
  Value chosen = isFirstExtreme(builder, node.getInputs()[0], position, axes->front());
  grads[0] = builder.where(chosen, kept(node, builder, *axes, dy[0]), zero);
  return success();
}

/// For each element the product of the others along the last axis of [outer, n].
static Value productOfOthers(NodeBuilder &b, Value rows) {
  auto running = [&](int64_t reverse) {
    return b
        .create(own::CumProd, rows.getType(), {rows, b.indices(1)},
                {b.attr("exclusive", int64_t(1)), b.attr("reverse", reverse)})
        .getResult(0);
  };
  return b.mul(running(0), running(1));
}

static Value productSlope(NodeBuilder &b, Value x, Value dy, Value, ArrayRef<int64_t> axes) {
  ArrayRef<int64_t> shape = tensorType(x).getShape();
  SmallVector<int64_t> order, moved;
  for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
    if (!llvm::is_contained(axes, dim))
      order.push_back(dim);
  llvm::append_range(order, axes);
  for (int64_t dim : order)
    moved.push_back(shape[dim]);
  int64_t count = reducedCount(tensorType(x), axes), outer = 1;
  for (int64_t extent : ArrayRef<int64_t>(moved).drop_back(axes.size()))
    outer *= extent;
  Value others = productOfOthers(b, b.reshape(b.transpose(x, order), {outer, count}));
  Value back = b.transpose(b.reshape(others, moved), invertPermutationVector(order));
  return b.mul(dy, back);
}

/// A reduction whose axes are an attribute.
static LogicalResult reductionPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                      SmallVectorImpl<Value> &results) {
  if (!node.getInts("axes"))
    return success();
  NamedAttrList attrs(node.getAttrs());
  attrs.erase("axes");
  attrs.erase(kFirstOfEqual);
  results.push_back(nodes
                        .create(node.getOperator(), node.getResultTypes(),
                                {node.getInputs()[0], nodes.indices(*node.getInts("axes"))},
                                attrs.getAttrs())
                        .getResult(0));
  return success();
}

/// Dimensions that stay, and those that sums and means run over.
static Factors reductionFactors(onnx::NodeOp node) {
  std::optional<SmallVector<int64_t>> axes = listedAxes(node);
  const int64_t rank = node.inputType(0).getRank();
  if (!axes)
    return {};
  if (axes->empty() && !node.getInt("noop_with_empty_axes", 0))
    axes = llvm::to_vector(llvm::seq<int64_t>(rank));
  const bool isSum = node.isAnyOf({op::ReduceSum, op::ReduceSumSquare, op::ReduceL1});
  const bool isMean = node.is(op::ReduceMean), keeps = node.getInt("keepdims", 1);
  FactorBuilder factors(node);
  int64_t to = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    const bool isReduced = llvm::is_contained(*axes, dim);
    if (!isReduced)
      factors.add(dim, to);
    else if (isSum || isMean)
      factors.add(dim, {}, isSum ? FactorKind::Sum : FactorKind::Mean);
    to += !isReduced || keeps;
  }
  return factors.take();
}

/// What an operator reduces no elements to.
enum class Nothing { Zero, One, Lowest, Highest, NaN };

template <Nothing number>
static LogicalResult overNothing(onnx::NodeOp node, NodeBuilder &builder,
                                 SmallVectorImpl<Value> &results) {
  using Limits = std::numeric_limits<double>;
  constexpr double kNumbers[] = {0, 1, -Limits::infinity(), Limits::infinity(),
                                 Limits::quiet_NaN()};
  results.push_back(builder.splat(kNumbers[int(number)], node.outputType(0)));
  return success();
}

/// Not of an empty tensor, which needs a neutral element.
template <auto combine>
static bool evaluateReduction(evaluate::Node &node) {
  const evaluate::Values &x = *node.inputs[0];
  evaluate::Dims axes = node.getInts("axes").value_or(evaluate::Dims()), kept = x.dims;
  if (const evaluate::Values *given = node.input(1))
    axes.assign(given->elements.begin(), given->elements.end());
  if (axes.empty() && node.getInt("noop_with_empty_axes", 0) == 0)
    kept.assign(kept.size(), 1);
  for (int64_t given : axes) {
    auto axis = evaluate::fromFront(given, kept.size());
    if (!axis)
      return false;
    kept[*axis] = 1;
  }
  std::vector<std::optional<int64_t>> sums(evaluate::countOf(kept));
  const evaluate::Dims strides = *evaluate::broadcastStrides(kept, x.dims);
  bool exact = !x.elements.empty();
  const int64_t *next = x.elements.data();
  evaluate::forEachIndex(x.dims, [&](ArrayRef<int64_t> index) {
    std::optional<int64_t> &sum = sums[evaluate::offsetOf(index, strides)];
    const int64_t element = *next++;
    sum =
        sum ? evaluate::fromWide(
                  x.type,
                  combine(evaluate::toWide(x.type, *sum), evaluate::toWide(x.type, element)), exact)
            : element;
  });
  for (std::optional<int64_t> sum : sums)
    node.results[0].elements.push_back(sum.value_or(0));
  return exact;
}

static void add(onnx::Operator type, LowerFn lower, GradientFn gradient, ExpandFn overNothing,
                Function function = Function::None, bool anySign = false,
                decltype(evaluate::Evaluator::whole) whole = nullptr) {
  OpDef def = OpDef{type, 7, kNewestOpset, Kind::Rows, lower, gradient}
                  .keepsWide()
                  .dividedBy(reductionFactors)
                  .writtenBy(reductionPlainly)
                  .computing(function)
                  .omittingEmpty(overNothing)
                  .operand(1, OperandRole::Setting)
                  .evaluatedBy({.whole = whole, .floats = false});
  def.anySign = anySign;
  const bool isMean = type == op::ReduceMean;
  if (isMean || type == op::ReduceSum)
    def = def.linearly(Linear::InFirst, /*roundsIntegers=*/isMean);
  registerOp(def);
}

void registerReduction() {
  using C = Combine;
  using N = Nothing;
  using F = Function;
  add(op::ReduceSum, lowerReduction<C::Sum, same, nullptr>, reductionGradient<sumSlope>,
      overNothing<N::Zero>, F::ReduceSum, true, evaluateReduction<evaluate::kSum>);
  add(op::ReduceMean, lowerReduction<C::Sum, same, divideByCount>, reductionGradient<meanSlope>,
      overNothing<N::NaN>, F::ReduceMean);
  add(op::ReduceMax, lowerReduction<C::Max, same, nullptr>, extremeGradient<op::ArgMax>,
      overNothing<N::Lowest>, F::ReduceMax, true, evaluateReduction<evaluate::kMost>);
  add(op::ReduceMin, lowerReduction<C::Min, same, nullptr>, extremeGradient<op::ArgMin>,
      overNothing<N::Highest>, F::ReduceMin, true, evaluateReduction<evaluate::kLeast>);
  add(op::ReduceProd, lowerReduction<C::Product, same, nullptr>, reductionGradient<productSlope>,
      overNothing<N::One>, F::None, true, evaluateReduction<evaluate::kProduct>);
  add(op::ReduceL1, lowerReduction<C::Sum, magnitude, nullptr>, reductionGradient<l1Slope>,
      overNothing<N::Zero>);
  add(op::ReduceLogSum, lowerReduction<C::Sum, same, logarithm>, reductionGradient<logSumSlope>,
      overNothing<N::Lowest>);
  add(op::ReduceLogSumExp, lowerLogSumExp, reductionGradient<logSumExpSlope>,
      overNothing<N::Lowest>);
  add(op::ReduceSumSquare, lowerReduction<C::Sum, square, nullptr>,
      reductionGradient<sumSquareSlope>, overNothing<N::Zero>, F::ReduceSumSquare);
  add(op::ReduceL2, lowerReduction<C::Sum, square, squareRoot>, reductionGradient<l2Slope>,
      overNothing<N::Zero>, F::ReduceL2);
}

} // namespace zero::ops
