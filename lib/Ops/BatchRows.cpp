//===- BatchRows.cpp - how operators act on rows of a batch ---------------===//
//
// Most rules are those of shards (zero/Ops/Sharding.h): the rows are an index space that operands
// and results have in common. Reductions, and operators without a rule for shards, have one here.
//
//===----------------------------------------------------------------------===//

#include "zero/Ops/BatchRows.h"

#include "Lowering.h"
#include "zero/Ops/Axes.h"
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

/// Whether `node` computes a sum or mean over `axes` of something of each element; nothing if it
/// reduces in another way.
static std::optional<RowEffect> reductionEffect(onnx::NodeOp node) {
  if (node.is(op::ReduceMean))
    return RowEffect::Averaged;
  if (node.isAnyOf({op::ReduceSum, op::ReduceSumSquare, op::ReduceL1}))
    return RowEffect::Summed;
  return std::nullopt;
}

static Results reductionRule(onnx::NodeOp node, RowDims dims) {
  const int64_t rank = node.inputType(0).getRank();
  std::optional<SmallVector<int64_t>> axes = listedAxes(node);
  if (!axes || !dims[0])
    return combined(node);
  RowDim rows = *dims[0];
  if (axes->empty() && node.getInt("noop_with_empty_axes", 0))
    return kept(node, rows);
  if (axes->empty() || int64_t(axes->size()) == rank || llvm::is_contained(*axes, rows.dim))
    return allOf(node, reductionEffect(node).value_or(RowEffect::Combined));
  if (!node.getInt("keepdims", 1))
    rows.dim -= llvm::count_if(*axes, [&](int64_t axis) { return axis < rows.dim; });
  return kept(node, rows);
}

/// scores, labels[, weights] -> the sum over the rows[, the sum of weights, one number a row]
static Results lossRule(onnx::NodeOp node, RowDims dims) {
  const std::optional<RowDim> labels = dims[node.is(own::LabelWeights) ? 0 : 1];
  const bool isAcrossClasses = !node.is(own::LabelWeights) && dims[0] && dims[0]->dim == 1;
  if (!labels || isAcrossClasses)
    return combined(node);
  Results results;
  for (unsigned index = 0; index < node.getNumResults(); ++index) {
    const bool isSum = node.outputType(index).getRank() == 0;
    results.push_back({isSum ? RowEffect::Summed : RowEffect::Kept, *labels});
  }
  return results;
}

/// The axis that `node` runs along; nothing for an operator of another kind.
static std::optional<int64_t> axisOf(onnx::NodeOp node) {
  using Operator = onnx::Operator;
  static constexpr std::pair<Operator, int64_t> kDefaults[] = {
      {op::ArgMax, 0},   {op::ArgMin, 0},         {{"", "Hardmax"}, -1},
      {op::TopK, -1},    {op::GatherElements, 0}, {op::ScatterElements, 0},
      {op::Softmax, -1}, {op::LogSoftmax, -1},    {own::Resample, 0},
  };
  const int64_t rank = node.inputType(0).getRank();
  for (const auto &[type, axis] : kDefaults)
    if (node.is(type))
      return normalAxis(node.getInt("axis", axis), rank);
  if (!node.isAnyOf({op::CumSum, op::CumProd, own::CumProd, own::CumProdTail}))
    return std::nullopt;
  std::optional<SmallVector<int64_t>> axis = constantInts(node.getInputs()[1]);
  return axis && axis->size() == 1 ? normalAxis(axis->front(), rank) : int64_t(-1);
}

/// Operators along an axis leave all other dimensions in their places, in operands of that rank.
static Results axisRule(onnx::NodeOp node, RowDims dims, int64_t axis) {
  std::optional<RowDim> found;
  for (std::optional<RowDim> rows : dims)
    if (rows && (rows->dim == axis || (found && *found != *rows)))
      return combined(node);
    else if (rows)
      found = rows;
  const bool isDropped = node.outputType(0).getRank() < node.inputType(0).getRank();
  found->dim -= isDropped && axis < found->dim;
  return axis < 0 ? combined(node) : kept(node, *found);
}

/// Operators whose operands and results all have the rows in their first dimension.
static bool hasRowsFirst(onnx::NodeOp node) {
  return node.isAnyOf({op::Conv, own::ConvGradX, op::MaxPool, op::AveragePool, op::GridSample});
}

static Results rowsFirstRule(onnx::NodeOp node, RowDims dims) {
  // Rows that meet in weights are rows of different kinds.
  const bool hasDataOnly = node.is(op::GridSample) || dims.size() < 2 || !dims[1];
  return areAlong(dims, 0) && hasDataOnly ? kept(node, {0}) : combined(node);
}

/// Layers over steps: [steps, batch, ..] in front, [batch, ..] or [batch] behind.
static Results recurrentRule(onnx::NodeOp node, RowDims dims) {
  Results results;
  for (Value output : node.getOutputs())
    results.push_back(
        {RowEffect::Kept, {cast<RankedTensorType>(output.getType()).getRank() == 3 ? 1 : 0}});
  for (auto [index, rows] : llvm::enumerate(dims))
    if (rows && *rows != RowDim{node.inputType(index).getRank() == 3 ? 1 : 0})
      return combined(node);
  return results;
}

static Results oneHotRule(onnx::NodeOp node, RowDims dims) {
  if (!dims[0] || dims[1] || dims[2])
    return combined(node);
  RowDim rows = *dims[0];
  rows.dim += normalAxis(node.getInt("axis", -1), node.outputType(0).getRank()) <= rows.dim;
  return kept(node, rows);
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

/// A tensor that all parts have, into which rows are put at places that the data names.
static Results placeRule(onnx::NodeOp node, RowDims dims) {
  if (!dims[0] && (dims[1] || dims[2]))
    return allOf(node, RowEffect::Placed);
  return tupleRule(node, dims);
}

/// A table of sums of rows, at the places that the data names.
static Results tableSumRule(onnx::NodeOp node, RowDims dims) {
  return dims[0] && dims[1] ? allOf(node, RowEffect::Placed) : combined(node);
}

/// Operators that move whole rows: a Concat of rows behind rows, a Pad and a Tile of the others.
static Results movementRule(onnx::NodeOp node, RowDims dims) {
  if (!dims[0])
    return combined(node);
  if (node.is(op::Concat))
    return llvm::all_equal(dims) ? kept(node, *dims[0]) : combined(node);
  const int64_t dim = dims[0]->dim;
  const bool isWhole = node.inputType(0).getDimSize(dim) == node.outputType(0).getDimSize(dim);
  return isWhole || node.is(op::Tile) ? kept(node, *dims[0]) : combined(node);
}

/// Operands and results that run over the rows along the dimensions of one factor.
static std::optional<Results> shardRule(onnx::NodeOp node, RowDims dims) {
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
    if (isOther || (!dims[index] && cut && sharding->isPartial))
      return combined(node);
  }
  Results results;
  for (const std::optional<Cut> &cut : sharding->results)
    results.push_back(
        cut ? RowResult{RowEffect::Kept, {cut->dim, rows.blocks, rows.isSingle}}
            : RowResult{sharding->isPartial ? RowEffect::Summed : RowEffect::Combined});
  results.resize(node.getNumResults());
  return results;
}

static bool isReduction(onnx::NodeOp node) {
  return node.getDomain().empty() && node.getOpType().starts_with("Reduce");
}

/// The operators of the table below have rules of their own.
static std::optional<Results> ownRule(onnx::NodeOp node, RowDims dims) {
  using Rule = Results (*)(onnx::NodeOp, RowDims);
  using Operator = onnx::Operator;
  auto isOwn = [&](StringRef type) { return node.is(Operator{kZeroDomain, type}); };
  if (node.isAnyOf({Operator{"", "Shape"}, Operator{"", "Size"}, Operator{"", "EyeLike"}}))
    return allOf(node, RowEffect::None);
  if (node.is(own::BatchMoments))
    return allOf(node, RowEffect::Statistic);
  if (node.is(own::CheckTrue) && dims[0])
    return kept(node, *dims[0]);
  if (node.is(op::Trilu) && dims[0] && dims[0]->dim + 2 >= node.inputType(0).getRank())
    return combined(node);
  Rule rule = isReduction(node)                               ? reductionRule
              : isOwn("LSTM") || isOwn("GRU") || isOwn("RNN") ? recurrentRule
              : node.is(own::CrossEntropySum) || isOwn("CrossEntropyRows") || isOwn("NllSum") ||
                      isOwn("NllRows") || node.is(own::LabelWeights)
                  ? lossRule
              : hasRowsFirst(node)                                                   ? rowsFirstRule
              : node.is(Operator{"", "OneHot"})                                      ? oneHotRule
              : node.is(op::ScatterND) || (node.is(op::ScatterElements) && !dims[0]) ? placeRule
              : node.is(op::GatherND)                                                ? tupleRule
              : node.isAnyOf({own::GatherGrad, own::GatherNDGrad})                   ? tableSumRule
              : node.isAnyOf({op::Pad, op::Tile})                                    ? movementRule
                                                                                     : nullptr;
  if (rule)
    return rule(node, dims);
  if (std::optional<int64_t> axis = axisOf(node))
    return axisRule(node, dims, *axis);
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
  if (std::optional<Results> results = shardRule(node, dims))
    return *results;
  return node.is(op::Concat) ? movementRule(node, dims) : combined(node);
}

} // namespace zero::ops
