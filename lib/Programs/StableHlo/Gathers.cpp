//===- Gathers.cpp - gathers of windows -----------------------------------===//
//
// The first index of each window is clamped so that the window is within the operand. One indexed
// dimension is a Gather, elements of rows of a batch a GatherElements, and all others a GatherND by
// tuples that count up along the dimensions of a window.
//
//===----------------------------------------------------------------------===//

#include "Indexing.h"

using namespace mlir;
using namespace zero::stablehlo;

namespace zero::hlo {

namespace {
/// A tensor whose dimensions are those of the batch (their position) or of the operand (kOperand
/// plus their number), in any order.
struct Labelled {
  static constexpr int64_t kOperand = int64_t(1) << 32;
  Value value;
  SmallVector<int64_t> labels;

  void addBatch(ArrayRef<int64_t> positions) { llvm::append_range(labels, positions); }
  void addOperand(ArrayRef<int64_t> dims) {
    for (int64_t dim : dims)
      labels.push_back(kOperand + dim);
  }
};

/// A gather, prepared.
struct Gather {
  IndexDims dims;
  SmallVector<int64_t> indexed;  ///< dimensions of which an index selects
  SmallVector<Value> components; ///< their indices, clamped, as i64 of the shape of the batch
  SmallVector<int64_t> windowed; ///< those of `indexed` with windows of more than one element
  SmallVector<int64_t> rest;     ///< dimensions that are taken as they are

  int64_t batching() const { return dims.operandBatching.size(); }
};
} // namespace

static Gather prepare(Emitter &b, IndexDims dims) {
  Gather gather{dims, {}, {}, {}, {}};
  SmallVector<int64_t> limits(shapeOf(dims.operand));
  for (int64_t dim : otherDims(dims.rank(), dims.operandBatching)) {
    auto found = llvm::find(dims.indexed, dim);
    const int64_t extent = shapeOf(dims.operand)[dim], size = dims.window[dim];
    // A window of all elements is always the same.
    if (found == dims.indexed.end() || size == extent) {
      limits[dim] = size;
      gather.rest.push_back(dim);
      continue;
    }
    Value component = dims.component(b, found - dims.indexed.begin());
    gather.indexed.push_back(dim);
    if (std::optional<SmallVector<int64_t>> known = b.intsOf(component)) {
      for (int64_t &index : *known)
        index = std::clamp<int64_t>(index, 0, extent - size);
      component =
          b.integers(RankedTensorType::get(dims.batchShape(), b.getBuilder().getI64Type()), *known);
    } else {
      component = b.cast(b.clip(component, 0, extent - size), b.getBuilder().getI64Type());
    }
    gather.components.push_back(component);
    if (size > 1)
      gather.windowed.push_back(dim);
  }
  SmallVector<int64_t> starts(dims.rank(), 0);
  gather.dims.operand = b.slice(dims.operand, starts, limits);
  return gather;
}

/// Without an index, every window is the same.
static Labelled gatherNothing(Emitter &b, const Gather &gather) {
  const IndexDims &dims = gather.dims;
  auto order = dims.batchOrder();
  auto batch = sizesOf(dims.batchShape(), order);
  auto rest = sizesOf(shapeOf(dims.operand), gather.rest);
  Value x = b.permuted(dims.operand, joined(dims.operandBatching, gather.rest));
  SmallVector<int64_t> alone(batch.size(), 1);
  std::copy_n(batch.begin(), gather.batching(), alone.begin());
  Labelled result{b.expand(b.reshaped(x, joined(alone, rest)), joined(batch, rest)), {}};
  result.addBatch(order);
  result.addOperand(gather.rest);
  return result;
}

/// One index selects slices of one dimension.
static Labelled gatherSlices(Emitter &b, const Gather &gather) {
  const int64_t axis = gather.indexed.front();
  Value tuples = tuplesOf(b, gather.dims, gather.components, gather.indexed, gather.windowed);
  Value indices = b.reshaped(tuples, shapeOf(tuples).drop_back());
  Labelled result{b.gather(gather.dims.operand, indices, axis), {}};
  auto isBefore = [&](int64_t dim) { return dim < axis; };
  result.addOperand(llvm::to_vector(llvm::make_filter_range(gather.rest, isBefore)));
  result.addBatch(llvm::to_vector(llvm::seq<int64_t>(gather.dims.batchShape().size())));
  result.addOperand(gather.windowed);
  result.addOperand(llvm::to_vector(
      llvm::make_filter_range(gather.rest, [&](int64_t dim) { return dim > axis; })));
  return result;
}

/// Tuples select slices; batching dimensions come first in both.
static Labelled gatherTuples(Emitter &b, const Gather &gather) {
  const IndexDims &dims = gather.dims;
  auto order = dims.batchOrder();
  SmallVector<Value> components;
  for (Value component : gather.components)
    components.push_back(b.permuted(component, order));
  Value x =
      b.permuted(dims.operand, joined(joined(dims.operandBatching, gather.indexed), gather.rest));
  Value tuples = tuplesOf(b, dims, components, gather.indexed, gather.windowed);
  const int64_t batching = gather.batching();
  SmallVector<int64_t> shape(shapeOf(tuples).drop_back());
  Labelled result;
  if (batching > 0 && gather.indexed.size() == 1 && gather.rest.empty()) {
    auto flat = joined(ArrayRef(shape).take_front(batching),
                       productOf(ArrayRef(shape).drop_front(batching)));
    Value elements = b.one(op::GatherElements, tensorType(x).clone(flat),
                           {x, b.reshaped(tuples, flat)}, b.attr("axis", batching));
    result.value = b.reshaped(elements, shape);
  } else {
    auto type = tensorType(x).clone(joined(shape, sizesOf(shapeOf(dims.operand), gather.rest)));
    result.value = b.one(op::GatherND, type, {x, tuples}, b.attr("batch_dims", batching));
  }
  result.addBatch(order);
  result.addOperand(gather.windowed);
  result.addOperand(gather.rest);
  return result;
}

/// The dimensions of the result as labels: those of windows at `offsetDims`, between them the
/// batch.
static SmallVector<int64_t> wantedLabels(const IndexDims &dims, ArrayRef<int64_t> offsetDims,
                                         int64_t rank) {
  auto windows = dims.windowDims();
  SmallVector<int64_t> labels;
  size_t nextWindow = 0;
  int64_t nextBatch = 0;
  for (int64_t dim = 0; dim < rank; ++dim)
    labels.push_back(llvm::is_contained(offsetDims, dim)
                         ? Labelled::kOperand + windows[nextWindow++]
                         : nextBatch++);
  return labels;
}

static LogicalResult gather(Operation *operation, Emitter &b, SmallVectorImpl<Value> &results) {
  auto op = cast<GatherOp>(operation);
  GatherDimsAttr numbers = op.getDimensionNumbers();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  IndexDims dims{op.getOperand(),
                 op.getStartIndices(),
                 numbers.getIndexVectorDim(),
                 numbers.getStartIndexMap(),
                 numbers.getOperandBatchingDims(),
                 numbers.getStartIndicesBatchingDims(),
                 numbers.getCollapsedSliceDims(),
                 llvm::to_vector(op.getSliceSizes())};
  ArrayRef<int64_t> offsets = numbers.getOffsetDims();
  if (!dims.isValid() || !areDims(offsets, type.getRank()) || !llvm::is_sorted(offsets) ||
      offsets.size() != dims.windowDims().size() ||
      type.getRank() != int64_t(dims.batchDims().size() + offsets.size()))
    return b.refuse("expected dimension numbers that fit the operand, the indices and the result");
  if (productOf(type.getShape()) == 0)
    return b.refuse("expected a result with elements");
  Gather gather = prepare(b, dims);
  Labelled result = gather.indexed.empty() ? gatherNothing(b, gather)
                    : gather.indexed.size() == 1 && gather.batching() == 0
                        ? gatherSlices(b, gather)
                        : gatherTuples(b, gather);
  // Dimensions of one element that an index selects are in the result, but not in the value yet.
  SmallVector<int64_t> permutation;
  for (int64_t label : wantedLabels(dims, offsets, type.getRank()))
    if (auto found = llvm::find(result.labels, label); found != result.labels.end())
      permutation.push_back(found - result.labels.begin());
  // Collapsed dimensions of one element that were not indexed are in the value, but not wanted.
  for (size_t i = 0; i < result.labels.size(); ++i)
    if (!llvm::is_contained(permutation, int64_t(i)))
      permutation.push_back(i);
  Value value = b.permuted(result.value, permutation);
  if (productOf(shapeOf(value)) != productOf(type.getShape()))
    return b.refuse("expected a result of the size of the windows");
  results.push_back(b.reshaped(value, type.getShape()));
  return success();
}

void addGatherRules(RuleTable &table) { table["stablehlo.gather"] = gather; }

} // namespace zero::hlo
