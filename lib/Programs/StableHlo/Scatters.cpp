//===- Scatters.cpp - scatters of windows ---------------------------------===//
//
// A window that is not within the operand is left out, as XLA does it: where windows are combined,
// it becomes one of neutral elements at index 0; where they replace elements, it lands behind the
// operand, which is longer by one window until then. A sum into zeros is the gradient of a gather,
// which has a node of its own; any other scatter is a ScatterND.
//
//===----------------------------------------------------------------------===//

#include "Indexing.h"
#include "Reductions.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

namespace {
/// A scatter, prepared: the operand as [batching, indexed, rest], updates as [batch, windows of
/// `windowed`, rest], both in the same order of batching dimensions.
struct Scatter {
  IndexDims dims;
  SmallVector<int64_t> indexed, windowed, rest, order;
  SmallVector<Value> components; ///< indices as i64 of the shape of the batch, in `order`
  Value valid;                   ///< which windows count; null: all
  Value operand, updates;

  int64_t batching() const { return dims.operandBatching.size(); }
};
} // namespace

/// Whether `component` is such that windows of `size` are within `extent`; null if all are, and
/// `isKnown` if that follows from constants.
static Value windowsWithin(Emitter &b, Value component, int64_t extent, int64_t size) {
  const int64_t most = extent - size;
  if (auto known = b.intsOf(component))
    if (llvm::all_of(*known, [&](int64_t index) { return index >= 0 && index <= most; }))
      return {};
  Type i64 = b.getBuilder().getI64Type();
  return b.binary(
      op::And, b.binary(op::GreaterOrEqual, component, b.number(0, i64)),
      b.binary(op::LessOrEqual, component, b.integers(RankedTensorType::get({}, i64), most)));
}

/// The dimensions that are indexed, also those of which windows are only the first part.
static void addIndices(Emitter &b, Scatter &scatter) {
  const IndexDims &dims = scatter.dims;
  Type i64 = b.getBuilder().getI64Type();
  auto batch = sizesOf(dims.batchShape(), scatter.order);
  for (int64_t dim : otherDims(dims.rank(), dims.operandBatching)) {
    auto found = llvm::find(dims.indexed, dim);
    const int64_t extent = shapeOf(dims.operand)[dim], size = dims.window[dim];
    const bool isIndexed = found != dims.indexed.end();
    if (!isIndexed && size == extent) {
      scatter.rest.push_back(dim);
      continue;
    }
    scatter.indexed.push_back(dim);
    if (size > 1)
      scatter.windowed.push_back(dim);
    if (!isIndexed) {
      scatter.components.push_back(b.expand(b.number(0, i64), batch));
      continue;
    }
    Value component = dims.component(b, found - dims.indexed.begin());
    if (auto known = b.intsOf(component))
      component = b.integers(RankedTensorType::get(dims.batchShape(), i64), *known);
    component = b.cast(component, i64);
    // Checked in the order of the indices, which constants are in.
    if (Value within = windowsWithin(b, component, extent, size)) {
      within = b.permuted(within, scatter.order);
      scatter.valid = scatter.valid ? b.binary(op::And, scatter.valid, within) : within;
    }
    scatter.components.push_back(b.permuted(component, scatter.order));
  }
}

/// `valid`, which is of the shape of the batch, for updates of `rank`.
static Value perWindow(Emitter &b, Value valid, int64_t rank) {
  SmallVector<int64_t> shape(shapeOf(valid));
  shape.resize(rank, 1);
  return b.reshape(valid, shape);
}

/// Lets windows that do not count change nothing. Returns by how much the first indexed dimension
/// of the operand is longer.
static int64_t maskInvalid(Emitter &b, Scatter &scatter, const Combiner *combiner) {
  if (!scatter.valid)
    return 0;
  Type i64 = b.getBuilder().getI64Type();
  int64_t longer = 0, first = 0;
  if (combiner) {
    Value neutral = b.constant(neutralElement(*combiner, elementOf(scatter.updates)));
    Value valid = perWindow(b, scatter.valid, shapeOf(scatter.updates).size());
    scatter.updates = b.where(valid, scatter.updates, neutral);
  } else {
    const int64_t dim = scatter.indexed.front(), axis = scatter.batching();
    first = shapeOf(scatter.dims.operand)[dim];
    longer = scatter.dims.window[dim];
    const int64_t rank = shapeOf(scatter.operand).size();
    SmallVector<int64_t> low(rank, 0), high(rank, 0);
    high[axis] = longer;
    scatter.operand = b.pad(scatter.operand, low, high, b.number(0, elementOf(scatter.operand)));
  }
  for (auto [number, component] : llvm::enumerate(scatter.components)) {
    auto scalar = RankedTensorType::get({}, i64);
    component = b.where(scatter.valid, component, b.integers(scalar, number == 0 ? first : 0));
  }
  return longer;
}

/// Tuples for ScatterND, which has no batching dimensions: their indices count up.
static Value tuplesWithBatching(Emitter &b, const Scatter &scatter) {
  auto batch = sizesOf(scatter.dims.batchShape(), scatter.order);
  SmallVector<Value> components;
  for (int64_t dim = 0; dim < scatter.batching(); ++dim) {
    SmallVector<int64_t> alone(batch.size(), 1);
    alone[dim] = batch[dim];
    components.push_back(b.expand(b.iota(alone, dim), batch));
  }
  llvm::append_range(components, scatter.components);
  return tuplesOf(b, scatter.dims, components,
                  joined(scatter.dims.operandBatching, scatter.indexed), scatter.windowed);
}

/// A sum of floats into zeros.
static Value gatherGradient(Emitter &b, const Scatter &scatter) {
  RankedTensorType type = tensorType(scatter.operand);
  auto shape = b.attr("shape", type.getShape());
  Value tuples = tuplesOf(b, scatter.dims, scatter.components, scatter.indexed, scatter.windowed);
  const int64_t batching = scatter.batching();
  SmallVector<int64_t> single(shapeOf(tuples).drop_back());
  if (scatter.indexed.size() == 1 && batching == 0)
    return b.one(own::GatherGrad, type, {scatter.updates, b.reshaped(tuples, single)},
                 {b.attr("axis", int64_t(0)), shape});
  if (scatter.indexed.size() == 1 && scatter.rest.empty()) {
    auto flat = joined(ArrayRef(single).take_front(batching),
                       productOf(ArrayRef(single).drop_front(batching)));
    return b.one(own::GatherElementsGrad, type,
                 {b.reshaped(scatter.updates, flat), b.reshaped(tuples, flat)},
                 {b.attr("axis", batching), shape});
  }
  return b.one(own::GatherNDGrad, type, {scatter.updates, tuples},
               {b.attr("batch_dims", batching), shape});
}

static StringRef reductionName(const Combiner *combiner) {
  if (!combiner)
    return "none";
  if (combiner->node == op::Add)
    return "add";
  if (combiner->node == op::Mul)
    return "mul";
  return combiner->node == op::Max ? "max" : "min";
}

static Value emitScatter(Emitter &b, Scatter &scatter, const Combiner *combiner) {
  const bool sumsIntoZeros = combiner && combiner->node == op::Add &&
                             b.splatOf(scatter.dims.operand) == 0.0 &&
                             isa<FloatType>(elementOf(scatter.operand));
  const int64_t longer = maskInvalid(b, scatter, combiner);
  if (sumsIntoZeros)
    return gatherGradient(b, scatter);
  Value result = b.one(op::ScatterND, scatter.operand.getType(),
                       {scatter.operand, tuplesWithBatching(b, scatter), scatter.updates},
                       b.attr("reduction", reductionName(combiner)));
  const int64_t axis = scatter.batching();
  return longer ? b.sliceAxis(result, axis, 0, shapeOf(result)[axis] - longer) : result;
}

/// Window sizes of the operand's dimensions in the shape of the updates; nothing if they do not
/// fit.
static std::optional<SmallVector<int64_t>> windowOf(ScatterDimsAttr numbers, int64_t rank,
                                                    ArrayRef<int64_t> updates) {
  SmallVector<int64_t> dropped =
      joined(numbers.getInsertedWindowDims(), numbers.getInputBatchingDims());
  ArrayRef<int64_t> windowDims = numbers.getUpdateWindowDims();
  if (!areDims(dropped, rank) || !areDims(windowDims, updates.size()) ||
      !llvm::is_sorted(windowDims))
    return std::nullopt;
  auto kept = otherDims(rank, dropped);
  if (kept.size() != windowDims.size())
    return std::nullopt;
  SmallVector<int64_t> window(rank, 1);
  for (auto [dim, at] : llvm::zip_equal(kept, windowDims))
    window[dim] = updates[at];
  return window;
}

/// Updates as [batch in order, windows of `windowed`, rest].
static Value orderUpdates(Emitter &b, const Scatter &scatter, Value updates,
                          ArrayRef<int64_t> windowDims) {
  auto batch = otherDims(shapeOf(updates).size(), windowDims);
  auto kept = scatter.dims.windowDims();
  SmallVector<int64_t> permutation = sizesOf(batch, scatter.order);
  auto take = [&](ArrayRef<int64_t> dims) {
    for (int64_t dim : dims)
      if (auto found = llvm::find(kept, dim); found != kept.end())
        permutation.push_back(windowDims[found - kept.begin()]);
  };
  take(scatter.windowed);
  take(scatter.rest);
  // Windows of one element along an indexed dimension take no dimension.
  for (int64_t dim : otherDims(shapeOf(updates).size(), permutation))
    permutation.push_back(dim);
  auto shape = sizesOf(scatter.dims.batchShape(), scatter.order);
  llvm::append_range(shape, sizesOf(scatter.dims.window, scatter.windowed));
  llvm::append_range(shape, sizesOf(scatter.dims.window, scatter.rest));
  return b.reshaped(b.permuted(updates, permutation), shape);
}

static LogicalResult emit(ScatterOp op, const IndexDims &dims, const Combiner *combiner, Emitter &b,
                          SmallVectorImpl<Value> &results) {
  Scatter scatter{dims, {}, {}, {}, dims.batchOrder(), {}, {}, {}, {}};
  addIndices(b, scatter);
  scatter.updates = orderUpdates(b, scatter, op.getOperands()[2],
                                 op.getScatterDimensionNumbers().getUpdateWindowDims());
  if (scatter.indexed.empty())
    return b.refuse("expected an index");
  auto layout = joined(joined(dims.operandBatching, scatter.indexed), scatter.rest);
  scatter.operand = b.permuted(dims.operand, layout);
  Value result = emitScatter(b, scatter, combiner);
  results.push_back(b.permuted(result, invertPermutationVector(layout)));
  return success();
}

static LogicalResult scatter(Operation *operation, Emitter &b, SmallVectorImpl<Value> &results) {
  auto op = cast<ScatterOp>(operation);
  if (op->getNumOperands() != 3 || op->getNumResults() != 1)
    return b.refuse("expected one operand, its indices and its updates");
  ScatterDimsAttr numbers = op.getScatterDimensionNumbers();
  Value operand = op.getOperands()[0], updates = op.getOperands()[2];
  auto window = windowOf(numbers, shapeOf(operand).size(), shapeOf(updates));
  IndexDims dims{operand,
                 op.getOperands()[1],
                 numbers.getIndexVectorDim(),
                 numbers.getScatterDimsToOperandDims(),
                 numbers.getInputBatchingDims(),
                 numbers.getScatterIndicesBatchingDims(),
                 numbers.getInsertedWindowDims(),
                 window.value_or(SmallVector<int64_t>())};
  if (!window || !dims.isValid() || elementOf(updates) != elementOf(operand) ||
      sizesOf(shapeOf(updates), otherDims(shapeOf(updates).size(),
                                          numbers.getUpdateWindowDims())) != dims.batchShape())
    return b.refuse("expected dimension numbers that fit the operand, the indices and the updates");
  if (productOf(shapeOf(updates)) == 0) {
    results.push_back(operand);
    return success();
  }
  StringRef name = combinerOf(op.getBody());
  if (name == "second")
    return emit(op, dims, nullptr, b, results);
  std::optional<Combiner> combiner = combinerFor(name, elementOf(operand));
  if (!combiner || isBool(elementOf(operand)))
    return b.refuse("expected a body that is add, multiply, maximum or minimum of numbers, or that "
                    "returns the update");
  return emit(op, dims, &*combiner, b, results);
}

void addScatterRules(RuleTable &table) { table["stablehlo.scatter"] = scatter; }

} // namespace zero::hlo
