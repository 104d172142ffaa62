//===- Slice.cpp ----------------------------------------------------------===//
//
// ONNX: Slice, with constant starts, ends, axes and steps.
// Gradient: zero::SliceGrad(dy) {starts, steps, axes, shape}, which puts dy's
// elements back where they came from in a tensor of zeros of `shape`; `starts`
// are the first indices taken, already within the dimension. Its gradient is the Slice.
//
// ONNX Runtime: SliceGrad(dy, shape, starts, ends, axes, steps) is zero::SliceGrad.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "zero/Ops/Axes.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// Slice's parameters by dimension named in `axes`, with starts clamped as the
/// specification says.
struct Cut {
  SmallVector<int64_t> axes, starts, steps, counts;
};
} // namespace

/// `value`, counted from the back where negative, clamped to [low, high].
static int64_t clampIndex(int64_t value, int64_t extent, int64_t low, int64_t high) {
  // The ends may be INT64_MIN and INT64_MAX: adding to those would overflow.
  if (value < 0)
    value = value < -extent ? -1 : value + extent;
  return std::clamp(value, low, high);
}

static void addAxis(Cut &cut, int64_t axis, int64_t extent, int64_t start, int64_t end,
                    int64_t step) {
  bool forward = step > 0;
  int64_t low = forward ? 0 : -1;
  int64_t high = forward ? extent : extent - 1;
  start = clampIndex(start, extent, 0, high);
  end = clampIndex(end, extent, low, high);
  int64_t length = forward ? end - start : start - end;
  int64_t distance = std::min(std::abs(step), extent + 1);
  cut.axes.push_back(axis);
  cut.starts.push_back(start);
  cut.steps.push_back(forward ? distance : -distance);
  cut.counts.push_back(length <= 0 ? 0 : (length + distance - 1) / distance);
}

/// What operands `first` (starts), ends, axes and steps of `node` take from a tensor of `type`.
static FailureOr<Cut> cutOf(onnx::NodeOp node, RankedTensorType type, unsigned first = 1) {
  auto starts = requireInts(node, first, "starts");
  auto ends = requireInts(node, first + 1, "ends");
  if (failed(starts) || failed(ends))
    return failure();
  FailureOr<SmallVector<int64_t>> axes = llvm::to_vector(llvm::seq<int64_t>(starts->size()));
  FailureOr<SmallVector<int64_t>> steps = SmallVector<int64_t>(starts->size(), 1);
  if (node.hasInput(first + 2))
    axes = requireInts(node, first + 2, "axes");
  if (node.hasInput(first + 3))
    steps = requireInts(node, first + 3, "steps");
  if (failed(axes) || failed(steps))
    return failure();
  Cut cut;
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t step = (*steps)[i];
    if (step == 0 || step == std::numeric_limits<int64_t>::min())
      return nodeError(node) << "expected a step other than 0, got " << step;
    int64_t axis = normalAxis((*axes)[i], type.getRank());
    addAxis(cut, axis, type.getDimSize(axis), (*starts)[i], (*ends)[i], step);
  }
  return cut;
}

/// Whether it is known what `slice` takes.
static bool isKnown(onnx::NodeOp slice) {
  return slice.getInputs().size() > 2 &&
         llvm::all_of(slice.getInputs().drop_front(), [](Value operand) {
           return isa<NoneType>(operand.getType()) || constantInts(operand);
         });
}

} // namespace zero::ops

std::optional<std::pair<int64_t, int64_t>> zero::slicedColumns(onnx::NodeOp slice) {
  RankedTensorType from = slice.inputType(0), to = slice.outputType(0);
  if (!ops::isKnown(slice) || from.getRank() == 0 ||
      from.getShape().drop_back() != to.getShape().drop_back())
    return std::nullopt;
  FailureOr<ops::Cut> cut = ops::cutOf(slice, from);
  if (failed(cut) || llvm::any_of(cut->steps, [](int64_t step) { return step != 1; }))
    return std::nullopt;
  int64_t first = 0;
  for (auto [axis, start] : llvm::zip_equal(cut->axes, cut->starts))
    first = axis == from.getRank() - 1 ? start : first;
  return std::pair(first, first + to.getShape().back());
}

namespace zero::ops {

static LogicalResult lowerSlice(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                Lowered &lowered) {
  FailureOr<Cut> parameters = cutOf(node, node.inputType(0));
  if (failed(parameters))
    return failure();
  Window window = Window::all(node.inputType(0).getShape());
  for (size_t i = 0; i < parameters->axes.size(); ++i)
    window.set(parameters->axes[i], parameters->starts[i], parameters->steps[i],
               parameters->counts[i]);
  if (ArrayRef<int64_t>(window.sizes) != node.outputType(0).getShape())
    return nodeError(node) << "expected a result of other shape than " << node.outputType(0);
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(cut(b, inputs.front(), window));
  return success();
}

/// `dy`, which `cut` took from a tensor of `type`, in zeros of that type.
static Value putBack(NodeBuilder &builder, Value dy, const Cut &cut, RankedTensorType type) {
  return builder
      .create(own::SliceGrad, type, dy,
              {builder.attr("starts", cut.starts), builder.attr("steps", cut.steps),
               builder.attr("axes", cut.axes), builder.attr("shape", type.getShape())})
      .getResult(0);
}

static LogicalResult sliceGradient(onnx::NodeOp node, ValueRange outputGrads, ArrayRef<bool> wanted,
                                   NodeBuilder &builder, MutableArrayRef<Value> inputGrads) {
  if (!wanted.front() || !outputGrads.front())
    return success();
  FailureOr<Cut> parameters = cutOf(node, node.inputType(0));
  if (failed(parameters))
    return failure();
  inputGrads.front() = putBack(builder, outputGrads.front(), *parameters, node.inputType(0));
  return success();
}

/// The elements of the gradient from where zero::SliceGrad put those of its operand.
static LogicalResult sliceGradGradient(onnx::NodeOp node, ValueRange outputGrads,
                                       ArrayRef<bool> wanted, NodeBuilder &builder,
                                       MutableArrayRef<Value> inputGrads) {
  if (!wanted.front())
    return success();
  auto starts = *node.getInts("starts"), steps = *node.getInts("steps"),
       axes = *node.getInts("axes");
  SmallVector<int64_t> ends;
  for (auto [start, step, axis] : llvm::zip_equal(starts, steps, axes)) {
    const int64_t end = start + step * node.inputType(0).getDimSize(axis);
    // A negative end would count from the back.
    ends.push_back(end < 0 ? std::numeric_limits<int64_t>::min() : end);
  }
  inputGrads.front() =
      builder
          .create(op::Slice, node.inputType(0),
                  {outputGrads.front(), builder.indices(starts), builder.indices(ends),
                   builder.indices(axes), builder.indices(steps)})
          .getResult(0);
  return success();
}

static LogicalResult expandGrad(onnx::NodeOp node, NodeBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  FailureOr<Cut> parameters = cutOf(node, node.outputType(0), 2);
  if (failed(parameters))
    return failure();
  results.push_back(putBack(builder, node.getInputs()[0], *parameters, node.outputType(0)));
  return success();
}

static LogicalResult lowerSliceGrad(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                    Lowered &lowered) {
  auto starts = *node.getInts("starts");
  auto steps = *node.getInts("steps");
  Window window = Window::all(node.inputType(0).getShape());
  for (auto [i, axis] : llvm::enumerate(*node.getInts("axes")))
    window.set(axis, starts[i], steps[i], node.inputType(0).getDimSize(axis));
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  Value zeros = filled(b, node.outputType(0), 0);
  lowered.results.push_back(put(b, inputs.front(), zeros, window));
  return success();
}

/// The dimensions that are taken whole, in their order.
static Factors wholeDims(onnx::NodeOp node, ArrayRef<int64_t> axes, ArrayRef<int64_t> steps) {
  FactorBuilder factors(node);
  for (int64_t dim = 0; dim < node.inputType(0).getRank(); ++dim) {
    const auto *at = llvm::find(axes, dim);
    const bool isForward = at == axes.end() || steps[at - axes.begin()] == 1;
    if (isForward && node.inputType(0).getDimSize(dim) == node.outputType(0).getDimSize(dim))
      factors.add(dim, dim);
  }
  return factors.take();
}

static Factors sliceFactors(onnx::NodeOp node) {
  if (!isKnown(node))
    return {};
  FailureOr<Cut> cut = cutOf(node, node.inputType(0));
  return failed(cut) ? Factors() : wholeDims(node, cut->axes, cut->steps);
}

static Factors sliceGradFactors(onnx::NodeOp node) {
  return wholeDims(node, *node.getInts("axes"), *node.getInts("steps"));
}

static bool evaluateSlice(evaluate::Node &node) {
  const evaluate::Values &x = *node.inputs[0], *starts = node.input(1);
  evaluate::Dims first(x.dims.size(), 0), steps(x.dims.size(), 1);
  for (size_t i = 0, count = starts ? starts->elements.size() : 0; i < count; ++i) {
    auto setting = [&](unsigned operand, int64_t fallback) {
      const evaluate::Values *given = node.input(operand);
      return given && i < given->elements.size() ? given->elements[i] : fallback;
    };
    auto axis = evaluate::fromFront(setting(3, i), x.dims.size());
    const int64_t step = setting(4, 1);
    if (!axis || step == 0)
      return false;
    const int64_t extent = x.dims[*axis];
    steps[*axis] = step;
    first[*axis] = clampIndex(starts->elements[i], extent, 0, step > 0 ? extent : extent - 1);
  }
  return evaluate::slice(x, first, steps, node.results[0]);
}

void registerSlice() {
  registerAnySign(OpDef{op::Slice, 10, kNewestOpset, Kind::Other, lowerSlice, sliceGradient}
                      .linearly(Linear::InFirst)
                      .moves()
                      .dividedBy(sliceFactors)
                      .computing(Function::Slice)
                      .evaluatedBy({.whole = evaluateSlice, .moves = true}));
  registerOp(
      OpDef{own::SliceGrad, 1, 1, Kind::Other, lowerSliceGrad, sliceGradGradient}.moves().dividedBy(
          sliceGradFactors));
  registerRuntimeOp(own::SliceGrad.type, expandGrad);
}

} // namespace zero::ops
