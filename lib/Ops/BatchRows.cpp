//===- BatchRows.cpp - how operators act on rows of a batch ---------------===//
//
// The rows are an index space that operands and results have in common: most rules follow from the
// factors of operators. Operators that find rows by indices of the data have rules here.
//
//===----------------------------------------------------------------------===//

#include "zero/Ops/BatchRows.h"

#include "Lowering.h"
#include "zero/Ops/Sharding.h"

#include <numeric>

using namespace mlir;

namespace zero::ops {

using Results = SmallVector<RowResult>;

static Results allOf(onnx::NodeOp node, RowEffect effect, RowDim rows = {}) {
  return Results(node.getNumResults(), RowResult{effect, rows});
}

static Results kept(onnx::NodeOp node, RowDim rows) { return allOf(node, RowEffect::Kept, rows); }

static Results combined(onnx::NodeOp node) { return allOf(node, RowEffect::Combined); }

static bool areAlong(RowDims rows, int64_t dim) {
  return llvm::all_of(rows, [&](std::optional<RowDim> r) { return !r || *r == RowDim{dim}; });
}

/// The rows under another shape: as many elements are in front of the second row as before.
static std::optional<RowDim> throughReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                            RowDim rows) {
  const int64_t outer =
      std::accumulate(from.begin(), from.begin() + rows.dim, rows.blocks, std::multiplies());
  std::optional<RowDim> found;
  int64_t before = 1;
  for (auto [index, extent] : llvm::enumerate(to)) {
    const bool isThere = outer % before == 0 && before <= outer && outer < before * extent;
    // Dimensions of one element are in front of as many.
    const bool isOne = before == outer && extent == 1 && (rows.isSingle || from[rows.dim] == 1);
    if (isThere || (isOne && !found))
      found = RowDim{int64_t(index), outer / before, rows.isSingle};
    before *= extent;
    if (isOne || isThere)
      break;
  }
  return found;
}

/// A scalar that is the only element of the only row is the mean over the rows of a batch.
static Results reshapeRule(onnx::NodeOp node, RowDims dims) {
  if (!dims[0])
    return allOf(node, RowEffect::None);
  ArrayRef<int64_t> to = node.outputType(0).getShape();
  if (to.empty())
    return allOf(node, RowEffect::Averaged);
  std::optional<RowDim> rows = throughReshape(node.inputType(0).getShape(), to, *dims[0]);
  return rows ? kept(node, *rows) : combined(node);
}

/// Tuples of indices name a row by a number that all parts have in common, such as 0, 1, ..: that
/// of the row itself. Other rows are named by the data.
static Results tupleRule(onnx::NodeOp node, RowDims dims) {
  auto concat = node.getInputs()[1].getDefiningOp<onnx::NodeOp>();
  const bool namesItself = node.getInt("batch_dims", 0) > 0 || (concat && concat.is(op::Concat));
  if (!dims[0] && dims[1])
    return kept(node, *dims[1]);
  return areAlong(dims, 0) && namesItself ? kept(node, {0}) : combined(node);
}

/// The rows of the result of a ScatterND, whose updates have them along a dimension that no index
/// chooses; nothing if an index does.
static std::optional<RowDim> besideIndices(onnx::NodeOp node, RowDim updates) {
  ArrayRef<int64_t> indices = node.inputType(1).getShape();
  const int64_t chosen = int64_t(indices.size()) - 1;
  if (updates.dim < chosen)
    return std::nullopt;
  updates.dim += indices.back() - chosen;
  return updates;
}

/// A tensor that all parts have, into which rows are put: beside each other, as by an assignment to
/// a slice of each row, or at places that the data names.
static Results placeRule(onnx::NodeOp node, RowDims dims) {
  if (!dims[0] && !dims[1] && dims[2] && node.is(op::ScatterND))
    if (std::optional<RowDim> rows = besideIndices(node, *dims[2]))
      return kept(node, *rows);
  if (!dims[0] && (dims[1] || dims[2]))
    return allOf(node, RowEffect::Placed);
  return tupleRule(node, dims);
}

/// A table of sums of rows, at the places that the data names.
static Results tableSumRule(onnx::NodeOp node, RowDims dims) {
  return dims[0] && dims[1] ? allOf(node, RowEffect::Placed) : combined(node);
}

/// Rows may follow rows: those of a Concat, and a Tile that repeats them.
static Results movementRule(onnx::NodeOp node, RowDims dims) {
  const bool movesRows = node.isAnyOf({op::Concat, op::Tile}) && dims[0];
  return movesRows && llvm::all_equal(node.is(op::Tile) ? dims.take_front() : dims)
             ? kept(node, *dims[0])
             : combined(node);
}

static RowEffect effectOf(FactorKind kind) {
  return kind == FactorKind::Sum    ? RowEffect::Summed
         : kind == FactorKind::Mean ? RowEffect::Averaged
                                    : RowEffect::Combined;
}

/// Operands and results that run over the rows along the dimensions of one factor.
static std::optional<Results> factorRule(onnx::NodeOp node, RowDims dims) {
  auto extent = [&](size_t index) { return node.inputType(index).getDimSize(dims[index]->dim); };
  std::optional<size_t> first;
  for (size_t index = 0; index < dims.size(); ++index)
    if (dims[index] && (!first || extent(index) > extent(*first)))
      first = index;
  const RowDim rows = *dims[*first];
  std::optional<Sharding> sharding = shardByOperand(node, *first, Cut{rows.dim}, 1);
  if (!sharding)
    return std::nullopt;
  for (size_t index = 0; index < dims.size(); ++index) {
    const std::optional<Cut> &cut = sharding->operands[index];
    const bool isOther = dims[index] && extent(index) != 1 &&
                         (!cut || *dims[index] != RowDim{cut->dim, rows.blocks});
    if (isOther || (!dims[index] && cut && sharding->kind != FactorKind::Parallel))
      return combined(node);
  }
  Results results;
  for (const std::optional<Cut> &cut : sharding->results)
    results.push_back(cut ? RowResult{RowEffect::Kept, {cut->dim, rows.blocks, rows.isSingle}}
                          : RowResult{effectOf(sharding->kind)});
  results.resize(node.getNumResults());
  return results;
}

/// Operators that read no elements of rows, or find them by what the data says.
static std::optional<Results> ownRule(onnx::NodeOp node, RowDims dims) {
  using Operator = onnx::Operator;
  if (node.isAnyOf({Operator{"", "Shape"}, Operator{"", "Size"}, Operator{"", "EyeLike"}}))
    return allOf(node, RowEffect::None);
  if (node.is(own::BatchMoments))
    return allOf(node, RowEffect::Statistic);
  if (node.is(op::ScatterND) || (node.is(op::ScatterElements) && !dims[0]))
    return placeRule(node, dims);
  if (node.is(op::GatherND))
    return tupleRule(node, dims);
  if (node.isAnyOf({own::GatherGrad, own::GatherNDGrad}))
    return tableSumRule(node, dims);
  return std::nullopt;
}

Results followRows(onnx::NodeOp node, RowDims dims) {
  const OpDef *def = lookup(node);
  if (!def)
    return combined(node);
  if (def->kind == Kind::View)
    return reshapeRule(node, dims);
  if (std::optional<Results> results = ownRule(node, dims))
    return *results;
  if (std::optional<Results> results = factorRule(node, dims))
    return *results;
  return movementRule(node, dims);
}

} // namespace zero::ops
