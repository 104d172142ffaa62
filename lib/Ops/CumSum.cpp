//===- CumSum.cpp - running sums and products -----------------------------===//
//
// ONNX: CumSum and CumProd (also as zero::CumProd) with a constant axis. They run
// in order along the axis.
//
// Gradients: CumSum of dy in the other direction. For CumProd y, with P the product
// of what comes before an element: dx = P S, where zero::CumProdTail(dy, x) {axis,
// exclusive, reverse} is the recurrence S[i] = dy[i] + x[i+1] S[i+1], or, exclusive,
// S[i] = dy[i+1] + x[i+1] S[i+1]; zeros do not disturb it, as a division would.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include "zero/Evaluate/Elements.h"

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

/// The place before `point` in `walk`, or `point` itself where `inside` is false.
static SmallVector<Value> placeBefore(ImplicitLocOpBuilder &b, const Walk &walk,
                                      ArrayRef<Value> point, Value &inside) {
  SmallVector<Value> last(point);
  last[1] = walk.before(b, point[1]);
  Value extent = arith::ConstantIndexOp::create(b, walk.extent);
  // Unsigned: -1 and the extent itself are both outside.
  inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, last[1], extent);
  last[1] = arith::SelectOp::create(b, inside, last[1], point[1]);
  return last;
}

/// The combination up to `point`, from that up to the position before it.
static Value runningValue(ImplicitLocOpBuilder &b, const Walk &walk, Combine combine, Value input,
                          Value results, ArrayRef<Value> point) {
  Value inside;
  SmallVector<Value> last = placeBefore(b, walk, point, inside);
  Value neutral = constant(b, tensorType(input).getElementType(), combine == Combine::Product);
  Value before = tensor::ExtractOp::create(b, results, last);
  before = arith::SelectOp::create(b, inside, before, neutral);
  Value added =
      tensor::ExtractOp::create(b, input, walk.exclusive ? last : SmallVector<Value>(point));
  if (walk.exclusive)
    added = arith::SelectOp::create(b, inside, added, neutral);
  return combined(b, combine, before, added);
}

/// S at `point` of the recurrence, from dy, x and S at the place before it.
static Value tailValue(ImplicitLocOpBuilder &b, const Walk &walk, Value dy, Value x, Value tails,
                       ArrayRef<Value> point) {
  Value inside;
  SmallVector<Value> last = placeBefore(b, walk, point, inside);
  Value zero = constant(b, tensorType(x).getElementType(), 0);
  Value tail = arith::MulFOp::create(b, tensor::ExtractOp::create(b, x, last),
                                     tensor::ExtractOp::create(b, tails, last));
  Value own = tensor::ExtractOp::create(b, dy, walk.exclusive ? last : SmallVector<Value>(point));
  if (walk.exclusive)
    return arith::SelectOp::create(b, inside, arith::AddFOp::create(b, own, tail), zero);
  return arith::AddFOp::create(b, own, arith::SelectOp::create(b, inside, tail, zero));
}

/// The value at a point of a walk, from the tensor of values that were there before.
using StepFn = llvm::function_ref<Value(ImplicitLocOpBuilder &, Value, ArrayRef<Value>)>;

static Value walkAlong(ImplicitLocOpBuilder &b, const Walk &walk, RankedTensorType type,
                       StepFn step) {
  // The first step reads its own place before it is written: zeros, not garbage.
  return forEachIndex(b, type.getShape(), filled(b, type, 0),
                      [&](ImplicitLocOpBuilder &s, ValueRange point, Value carried) -> Value {
                        SmallVector<Value> at(point);
                        if (walk.reverse)
                          at[1] = arith::SubIOp::create(
                              s, arith::ConstantIndexOp::create(s, walk.extent - 1), point[1]);
                        Value value = step(s, carried, at);
                        return tensor::InsertOp::create(s, value, carried, at);
                      });
}

/// The axis that ONNX has as an operand, from the front.
static FailureOr<int64_t> axisOf(onnx::NodeOp node) {
  auto given = requireInts(node, 1, "axis");
  if (failed(given))
    return failure();
  const int64_t rank = node.outputType(0).getRank(), axis = given->front();
  if (axis < -rank || axis >= rank)
    return nodeError(node) << "expected an axis of " << -rank << " to " << rank - 1 << ", got "
                           << axis;
  return normalAxis(axis, rank);
}

static Walk walkOf(onnx::NodeOp node, int64_t axis, bool reverse) {
  ArrayRef<int64_t> shape = node.outputType(0).getShape();
  return {product(shape.take_front(axis)), shape[axis], product(shape.drop_front(axis + 1)),
          node.getInt("exclusive", 0) != 0, reverse};
}

template <Combine combine>
static LogicalResult lowerRunning(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                  Lowered &lowered) {
  FailureOr<int64_t> axis = axisOf(node);
  if (failed(axis))
    return failure();
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Walk walk = walkOf(node, *axis, node.getInt("reverse", 0) != 0);
  auto walked = node.outputType(0).clone({walk.outer, walk.extent, walk.inner});
  Value input = reshaped(b, inputs.front(), walked);
  Value results =
      walkAlong(b, walk, walked, [&](ImplicitLocOpBuilder &s, Value carried, ArrayRef<Value> at) {
        return runningValue(s, walk, combine, input, carried, at);
      });
  lowered.results.push_back(reshaped(b, results, node.outputType(0)));
  return success();
}

static LogicalResult lowerCumProdTail(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                      Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  // Starts from the end that CumProd reaches last.
  Walk walk = walkOf(node, node.getInt("axis", 0), node.getInt("reverse", 0) == 0);
  auto walked = node.outputType(0).clone({walk.outer, walk.extent, walk.inner});
  Value dy = reshaped(b, inputs[0], walked), x = reshaped(b, inputs[1], walked);
  Value tails =
      walkAlong(b, walk, walked, [&](ImplicitLocOpBuilder &s, Value carried, ArrayRef<Value> at) {
        return tailValue(s, walk, dy, x, carried, at);
      });
  lowered.results.push_back(reshaped(b, tails, node.outputType(0)));
  return success();
}

static LogicalResult cumProdGradient(onnx::NodeOp node, ValueRange outputGrads,
                                     ArrayRef<bool> wanted, NodeBuilder &builder,
                                     MutableArrayRef<Value> inputGrads) {
  if (!wanted.front() || !outputGrads.front())
    return success();
  FailureOr<int64_t> axis = axisOf(node);
  if (failed(axis))
    return failure();
  Value x = node.getInputs()[0];
  NamedAttribute reverse = builder.attr("reverse", node.getInt("reverse", 0));
  Value before = builder
                     .create(own::CumProd, x.getType(), node.getInputs(),
                             {builder.attr("exclusive", int64_t(1)), reverse})
                     .getResult(0);
  Value tail = builder
                   .create(own::CumProdTail, x.getType(), {outputGrads.front(), x},
                           {builder.attr("axis", *axis),
                            builder.attr("exclusive", node.getInt("exclusive", 0)), reverse})
                   .getResult(0);
  inputGrads.front() = builder.mul(before, tail);
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
          .create(op::CumSum, node.inputType(0), {outputGrads.front(), node.getInputs()[1]},
                  {builder.attr("exclusive", node.getInt("exclusive", 0)),
                   builder.attr("reverse", opposite)})
          .getResult(0);
  return success();
}

/// The adjoint A of the recurrence S runs the other way. E[i], that of the place before i, is the
/// exclusive recurrence of S's gradient u: dx = E S, and the gradient of dy is E, if S is
/// exclusive, else u + x E.
static LogicalResult cumProdTailGradient(onnx::NodeOp node, ValueRange outputGrads,
                                         ArrayRef<bool> wanted, NodeBuilder &builder,
                                         MutableArrayRef<Value> inputGrads) {
  Value u = outputGrads.front(), x = node.getInputs()[1];
  Value before = builder
                     .create(own::CumProdTail, x.getType(), {u, x},
                             {builder.attr("axis", node.getInt("axis", 0)),
                              builder.attr("exclusive", int64_t(1)),
                              builder.attr("reverse", 1 - node.getInt("reverse", 0))})
                     .getResult(0);
  if (wanted[0])
    inputGrads[0] = node.getInt("exclusive", 0) ? before : builder.add(u, builder.mul(x, before));
  if (wanted[1])
    inputGrads[1] = builder.mul(before, node.getOutputs()[0]);
  return success();
}

/// All dimensions but the one that the second operand names.
static Factors runningFactors(onnx::NodeOp node) {
  auto axis = constantInts(node.getInputs()[1]);
  if (!axis || axis->size() != 1)
    return {};
  return FactorBuilder(node)
      .addAllBut(normalAxis(axis->front(), node.inputType(0).getRank()))
      .take();
}

static bool evaluateCumSum(evaluate::Node &node) {
  const evaluate::Values &x = *node.inputs[0], *given = node.input(1);
  auto axis = given && !given->elements.empty()
                  ? evaluate::fromFront(given->elements[0], x.dims.size())
                  : std::nullopt;
  if (!axis)
    return false;
  const int64_t extent = x.dims[*axis], inner = product(ArrayRef(x.dims).drop_front(*axis + 1));
  const bool exclusive = node.getInt("exclusive", 0), reverse = node.getInt("reverse", 0);
  node.results[0].elements.resize(x.elements.size());
  bool exact = true;
  for (int64_t line = 0, lines = extent ? x.elements.size() / extent : 0; line < lines; ++line) {
    evaluate::Wide sum = 0;
    for (int64_t step = 0; step < extent; ++step) {
      const int64_t row = reverse ? extent - 1 - step : step;
      const int64_t at = (line / inner * extent + row) * inner + line % inner;
      const evaluate::Wide before = sum;
      sum += evaluate::toWide(x.type, x.elements[at]);
      node.results[0].elements[at] =
          evaluate::fromWide(node.results[0].type, exclusive ? before : sum, exact);
    }
  }
  return exact;
}

void registerCumSum() {
  auto sum = lowerRunning<Combine::Sum>, prod = lowerRunning<Combine::Product>;
  auto add = [](OpDef def) { registerOp(def.dividedBy(runningFactors)); };
  add(OpDef{op::CumSum, 11, kNewestOpset, Kind::Other, sum, cumSumGradient}.evaluatedBy(
      {.whole = evaluateCumSum, .floats = false}));
  add({op::CumProd, 26, kNewestOpset, Kind::Other, prod, cumProdGradient});
  add({own::CumProd, 1, 1, Kind::Other, prod, cumProdGradient});
  registerOp(
      OpDef{own::CumProdTail, 1, 1, Kind::Other, lowerCumProdTail, cumProdTailGradient}.dividedBy(
          factorsAcrossAxis<0>));
}

} // namespace zero::ops
