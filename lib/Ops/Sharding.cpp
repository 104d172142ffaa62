//===- Sharding.cpp - how operators compute on shards ---------------------===//
//
// A rule of an operator lists its factors: index spaces that its loops run over, each with the
// dimension that it is of every operand and result. Cutting a factor cuts all of these. Elementwise
// operators and products have rules by their kind; the others are in the table at the end.
//
//===----------------------------------------------------------------------===//

#include "zero/Ops/Sharding.h"

#include "Lowering.h"
#include "zero/Ops/Attention.h"
#include "zero/Ops/Axes.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mlir;

namespace zero::ops {

std::optional<SmallVector<int64_t>> shardShape(RankedTensorType type, const Cut &cut,
                                               int64_t ways) {
  SmallVector<int64_t> shape(type.getShape());
  if (shape[cut.dim] % ways != 0 ||
      llvm::any_of(cut.parts, [&](int64_t part) { return part % ways != 0; }))
    return std::nullopt;
  shape[cut.dim] /= ways;
  return shape;
}

namespace {

/// The dimension of each operand and result that runs over one index space; -1: none.
struct Factor {
  SmallVector<int64_t> operands, results;
  bool isSummed = false;
};

using Factors = SmallVector<Factor>;

} // namespace

static int64_t extentAt(RankedTensorType type, int64_t dim) {
  return dim < 0 || dim >= type.getRank() ? 1 : type.getDimSize(dim);
}

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// Operands broadcast to the result, whose dimensions are those in front of `count`.
static Factors broadcastFactors(onnx::NodeOp node, int64_t count) {
  RankedTensorType result = node.outputType(0);
  Factors factors;
  for (int64_t dim = 0; dim < std::min(count, result.getRank()); ++dim) {
    Factor factor;
    for (auto [index, input] : llvm::enumerate(node.getInputs())) {
      if (!isTensor(input)) {
        factor.operands.push_back(-1);
        continue;
      }
      RankedTensorType type = node.inputType(index);
      const int64_t own = dim - result.getRank() + type.getRank();
      factor.operands.push_back(extentAt(type, own) == result.getDimSize(dim) && own >= 0 ? own
                                                                                          : -1);
    }
    for (unsigned index = 0; index < node.getNumResults(); ++index)
      factor.results.push_back(dim);
    factors.push_back(factor);
  }
  return factors;
}

static Factors elementwiseFactors(onnx::NodeOp node) { return broadcastFactors(node, INT64_MAX); }

/// Rows: the dimensions before `axis` are independent. Only the first operand has them.
static Factors rowFactors(onnx::NodeOp node, int64_t axis) {
  Factors factors;
  axis = normalAxis(axis, node.inputType(0).getRank());
  for (int64_t dim = 0; dim < axis; ++dim) {
    Factor factor;
    factor.operands.assign(node.getInputs().size(), -1);
    factor.operands[0] = dim;
    factor.results.assign(node.getNumResults(), dim);
    factors.push_back(factor);
  }
  return factors;
}

static Factors normalizationFactors(onnx::NodeOp node) {
  return rowFactors(node, node.getInt("axis", -1));
}

/// A softmax: every dimension but the one that it runs along.
static Factors softmaxFactors(onnx::NodeOp node) {
  Factors factors = broadcastFactors(node, INT64_MAX);
  factors.erase(factors.begin() + normalAxis(node.getInt("axis", -1), node.inputType(0).getRank()));
  return factors;
}

/// The masks of a masked softmax broadcast to its scores, but for the padding, [batch, keys].
static Factors maskedSoftmaxFactors(onnx::NodeOp node) {
  Factors factors = broadcastFactors(node, 2);
  for (auto [dim, factor] : llvm::enumerate(factors))
    if (node.hasInput(1))
      factor.operands[1] = dim == 0 && node.inputType(1).getDimSize(0) != 1 ? 0 : -1;
  return factors;
}

/// a [.., m, k] by b [.., k, n], with batches that broadcast; a vector has only k.
static Factors productFactors(onnx::NodeOp node) {
  RankedTensorType a = node.inputType(0), b = node.inputType(1), c = node.outputType(0);
  const bool transA = node.getInt("transA", 0), transB = node.getInt("transB", 0);
  const bool isRowA = a.getRank() == 1, isColumnB = b.getRank() == 1;
  const int64_t kOfA = isRowA ? 0 : a.getRank() - (transA ? 2 : 1);
  const int64_t kOfB = isColumnB ? 0 : b.getRank() - (transB ? 1 : 2);
  auto make = [&](int64_t inA, int64_t inB, int64_t inC, bool isSummed = false) {
    Factor factor{{inA, inB}, {inC}, isSummed};
    for (Value input : node.getInputs().drop_front(2)) { // a row that is added
      auto type = dyn_cast<RankedTensorType>(input.getType());
      const bool isColumn = type && inC == c.getRank() - 1 && !isColumnB && type.getRank() > 0 &&
                            type.getShape().back() == c.getShape().back();
      factor.operands.push_back(isColumn ? type.getRank() - 1 : -1);
    }
    return factor;
  };
  Factors factors{make(kOfA, kOfB, -1, /*isSummed=*/true)};
  if (!isRowA)
    factors.push_back(make(a.getRank() - (transA ? 1 : 2), -1, c.getRank() - (isColumnB ? 1 : 2)));
  if (!isColumnB)
    factors.push_back(make(-1, b.getRank() - (transB ? 2 : 1), c.getRank() - 1));
  const int64_t batches = std::max(a.getRank(), b.getRank()) - 2;
  for (int64_t dim = 0; dim < batches; ++dim) {
    const int64_t inA = dim - batches + a.getRank() - 2, inB = dim - batches + b.getRank() - 2;
    factors.push_back(make(extentAt(a, inA) == c.getDimSize(dim) ? inA : -1,
                           extentAt(b, inB) == c.getDimSize(dim) ? inB : -1, dim));
  }
  return factors;
}

static Factors transposeFactors(onnx::NodeOp node) {
  Factors factors;
  for (auto [to, from] : llvm::enumerate(permutationOf(node)))
    factors.push_back({{from}, {int64_t(to)}});
  return factors;
}

/// Every dimension but `axis`, of all operands and results that are floats of the same rank.
static Factors acrossAxisFactors(onnx::NodeOp node) {
  Factors factors;
  const int64_t rank = node.inputType(0).getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim == normalAxis(node.getInt("axis", 0), rank))
      continue;
    Factor factor;
    for (Value input : node.getInputs()) {
      auto type = dyn_cast<RankedTensorType>(input.getType());
      factor.operands.push_back(type && type.getRank() == rank ? dim : -1);
    }
    factor.results.assign(node.getNumResults(), dim);
    factors.push_back(factor);
  }
  return factors;
}

/// The dimensions that a Slice takes entirely.
static Factors sliceFactors(onnx::NodeOp node) {
  Factors factors;
  for (int64_t dim = 0; dim < node.inputType(0).getRank(); ++dim) {
    if (node.inputType(0).getDimSize(dim) != node.outputType(0).getDimSize(dim))
      continue;
    Factor factor{{dim}, {dim}};
    factor.operands.resize(node.getInputs().size(), -1);
    factors.push_back(factor);
  }
  return factors;
}

static Factors reductionFactors(onnx::NodeOp node) {
  std::optional<SmallVector<int64_t>> axes = listedAxes(node);
  if (!axes || axes->empty())
    return {};
  Factors factors;
  int64_t to = 0;
  for (int64_t dim = 0; dim < node.inputType(0).getRank(); ++dim) {
    const bool isReduced = llvm::is_contained(*axes, dim);
    if (!isReduced) {
      Factor factor{{dim}, {to}};
      factor.operands.resize(node.getInputs().size(), -1);
      factors.push_back(factor);
    }
    to += isReduced && !node.getInt("keepdims", 1) ? 0 : 1;
  }
  return factors;
}

/// The rows of a table that a Gather of its first dimension takes are whole; their elements and the
/// indices are independent.
static Factors gatherFactors(onnx::NodeOp node) {
  RankedTensorType data = node.inputType(0), indices = node.inputType(1);
  const int64_t axis = normalAxis(node.getInt("axis", 0), data.getRank());
  Factors factors;
  for (int64_t dim = 0; dim < data.getRank(); ++dim)
    if (dim != axis)
      factors.push_back({{dim, -1}, {dim < axis ? dim : dim + indices.getRank() - 1}});
  for (int64_t dim = 0; dim < indices.getRank(); ++dim)
    factors.push_back({{-1, dim}, {axis + dim}});
  return factors;
}

/// Heads, if the ranks divide the groups of keys, and batches. A packed operand has its own rule.
static Factors attentionFactors(onnx::NodeOp node) {
  AttentionForm form(node);
  auto headDim = [](const HeadTensor &tensor) { return tensor.rowsFirst ? 2 : 1; };
  Factor heads{{headDim(form.query), headDim(form.key), headDim(form.value)},
               {headDim(form.result), 1}};
  Factor batch{{0, 0, 0}, {0, 0}};
  for (auto [index, input] : llvm::enumerate(node.getInputs().drop_front(3))) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    const bool isMask = index == 1; // [batch, heads, queries, keys]; padding is [batch, keys]
    const int64_t back = type ? type.getRank() - 4 : 0;
    auto own = [&](int64_t dim, int64_t extent) {
      return type && extentAt(type, dim) == extent && extent != 1 ? dim : -1;
    };
    heads.operands.push_back(isMask ? own(back + 1, form.query.heads) : -1);
    batch.operands.push_back(isMask ? own(back, form.batch) : own(0, form.batch));
  }
  if (form.packed) {
    heads.operands[1] = heads.operands[2] = batch.operands[1] = batch.operands[2] = -1;
    return {batch};
  }
  return {heads, batch};
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

namespace {
/// Neighbouring dimensions `from` of one shape that hold the elements of dimensions `to` of
/// another.
struct Piece {
  std::pair<int64_t, int64_t> from, to;
};
} // namespace

/// Divides two shapes of the same elements into the smallest pieces.
static SmallVector<Piece> alignShapes(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<Piece> pieces;
  int64_t i = 0, j = 0;
  const int64_t fromRank = from.size(), toRank = to.size();
  while (i < fromRank || j < toRank) {
    Piece piece{{i, i}, {j, j}};
    int64_t left = 1, right = 1;
    do {
      if ((left <= right && i < fromRank) || j >= toRank)
        left *= from[i++];
      else
        right *= to[j++];
    } while (left != right && (i < fromRank || j < toRank));
    while (i < fromRank && from[i] == 1 && piece.from.first != i)
      ++i;
    while (j < toRank && to[j] == 1 && piece.to.first != j)
      ++j;
    piece.from.second = i;
    piece.to.second = j;
    pieces.push_back(piece);
  }
  return pieces;
}

/// The cut of a view of shape `to` that shows the same shards as `cut` of shape `from`.
///
/// A cut of dimension d in a piece divides the elements of the piece into `outer` equal parts, one
/// for each index of the dimensions before d, of which each is cut by itself.
static std::optional<Cut> throughView(ArrayRef<int64_t> from, ArrayRef<int64_t> to, const Cut &cut,
                                      int64_t ways) {
  for (const Piece &piece : alignShapes(from, to)) {
    if (cut.dim < piece.from.first || cut.dim >= piece.from.second)
      continue;
    int64_t outer = 1;
    for (int64_t dim = piece.from.first; dim < cut.dim; ++dim)
      outer *= from[dim];
    if (!cut.parts.empty()) {
      if (!llvm::all_equal(cut.parts)) {
        const bool isSame =
            piece.from.second - piece.from.first == 1 && piece.to.second - piece.to.first == 1;
        return isSame ? std::optional(Cut{piece.to.first, cut.parts}) : std::nullopt;
      }
      outer *= int64_t(cut.parts.size());
    }
    // The first dimension behind `outer` elements is cut; if it has more of them, in parts.
    int64_t before = 1, dim = piece.to.first;
    while (dim < piece.to.second && before * to[dim] <= outer && before != outer)
      before *= to[dim++];
    while (dim + 1 < piece.to.second && to[dim] == 1)
      ++dim;
    if (dim == piece.to.second || outer % before != 0)
      return std::nullopt;
    const int64_t parts = outer / before;
    if (to[dim] % (parts * ways) != 0)
      return std::nullopt;
    Cut made{dim};
    if (parts > 1)
      made.parts.assign(parts, to[dim] / parts);
    return made;
  }
  return std::nullopt;
}

static Factors factorsOf(onnx::NodeOp node) {
  using Rule = Factors (*)(onnx::NodeOp);
  static constexpr std::pair<onnx::Operator, Rule> kRules[] = {
      {op::Concat, acrossAxisFactors},    {op::Expand, elementwiseFactors},
      {op::Gather, gatherFactors},        {op::LayerNormalization, normalizationFactors},
      {op::LogSoftmax, softmaxFactors},   {op::ReduceMean, reductionFactors},
      {op::ReduceSum, reductionFactors},  {op::RMSNormalization, normalizationFactors},
      {op::Slice, sliceFactors},          {op::Softmax, softmaxFactors},
      {op::Split, acrossAxisFactors},     {op::Transpose, transposeFactors},
      {own::Attention, attentionFactors}, {own::MaskedSoftmax, maskedSoftmaxFactors},
  };
  for (const auto &[type, rule] : kRules)
    if (node.is(type))
      return rule(node);
  if (node.is(own::Rotary))
    return broadcastFactors(node, node.outputType(0).getRank() - 1);
  const OpDef *def = lookup(node);
  if (def && def->kind == Kind::Elementwise)
    return elementwiseFactors(node);
  if (def && def->kind == Kind::Product)
    return productFactors(node);
  return {};
}

/// Cuts `factor` of `node` in `parts`. Nothing if something that it cuts does not divide, or if an
/// operator looks at neighbouring parts.
static std::optional<Sharding> cutFactor(onnx::NodeOp node, const Factor &factor,
                                         ArrayRef<int64_t> parts, int64_t ways) {
  Sharding sharding;
  sharding.isPartial = factor.isSummed;
  auto add = [&](auto &list, RankedTensorType type, int64_t dim) {
    if (dim < 0)
      return list.push_back(std::nullopt), true;
    list.push_back(Cut{dim, SmallVector<int64_t>(parts)});
    return shardShape(type, *list.back(), ways).has_value();
  };
  for (auto [index, dim] : llvm::enumerate(factor.operands))
    if (!add(sharding.operands, dim < 0 ? RankedTensorType() : node.inputType(index), dim))
      return std::nullopt;
  for (auto [index, result] : llvm::enumerate(node.getOutputs())) {
    const int64_t dim =
        isTensor(result) && index < factor.results.size() ? factor.results[index] : -1;
    if (!add(sharding.results, dim < 0 ? RankedTensorType() : node.outputType(index), dim))
      return std::nullopt;
  }
  return sharding;
}

/// Operands of a view are its first one and numbers that say its shape.
static std::optional<Sharding> shardView(onnx::NodeOp node, const Cut &cut, bool byResult,
                                         int64_t ways) {
  ArrayRef<int64_t> from = node.inputType(0).getShape(), to = node.outputType(0).getShape();
  std::optional<Cut> other =
      byResult ? throughView(to, from, cut, ways) : throughView(from, to, cut, ways);
  if (!other)
    return std::nullopt;
  Sharding sharding;
  sharding.operands.resize(node.getInputs().size());
  sharding.operands[0] = byResult ? *other : cut;
  sharding.results.push_back(byResult ? cut : *other);
  return sharding;
}

/// The heads of a packed operand: those of queries, of keys and of values are cut by themselves.
static std::optional<Sharding> shardPackedHeads(onnx::NodeOp node, int64_t ways) {
  AttentionForm form(node);
  if (form.query.heads % ways != 0 || form.key.heads % ways != 0)
    return std::nullopt;
  Sharding sharding;
  sharding.operands.resize(node.getInputs().size());
  sharding.operands[0] = Cut{2,
                             {form.query.heads * form.query.width, form.key.heads * form.key.width,
                              form.value.heads * form.value.width}};
  sharding.results = {Cut{form.result.rowsFirst ? 2 : 1}, Cut{1}};
  for (unsigned mask = 3; mask < 5; ++mask)
    if (node.hasInput(mask) && mask == 4 && node.inputType(4).getRank() == 4 &&
        node.inputType(4).getDimSize(1) == form.query.heads && form.query.heads > 1)
      sharding.operands[4] = Cut{1};
  return sharding;
}

/// A Split of a dimension whose parts are its results.
static std::optional<Sharding> shardSplitParts(onnx::NodeOp node, int64_t ways) {
  const int64_t axis = normalAxis(node.getInt("axis", 0), node.inputType(0).getRank());
  Sharding sharding;
  sharding.operands.resize(node.getInputs().size());
  Cut whole{axis};
  for (unsigned index = 0; index < node.getNumResults(); ++index) {
    whole.parts.push_back(node.outputType(index).getDimSize(axis));
    sharding.results.push_back(Cut{axis});
  }
  if (!shardShape(node.inputType(0), whole, ways))
    return std::nullopt;
  sharding.operands[0] = whole;
  return sharding;
}

static bool isViewNode(onnx::NodeOp node) {
  const OpDef *def = lookup(node);
  return def && def->kind == Kind::View && node.getInputs().size() >= 1 &&
         node.getNumResults() == 1 &&
         node.inputType(0).getNumElements() == node.outputType(0).getNumElements();
}

static bool isPackedAttention(onnx::NodeOp node) {
  return node.is(own::Attention) && node.getAttrs().contains(kPackedHeads);
}

std::optional<Sharding> shardByOperand(onnx::NodeOp node, unsigned operand, const Cut &cut,
                                       int64_t ways) {
  if (isViewNode(node))
    return operand == 0 ? shardView(node, cut, /*byResult=*/false, ways) : std::nullopt;
  if (isPackedAttention(node) && operand == 0 && cut.dim == 2) {
    std::optional<Sharding> heads = shardPackedHeads(node, ways);
    return heads && heads->operands[0] == cut ? heads : std::nullopt;
  }
  if (node.is(op::Split) && operand == 0 &&
      cut.dim == normalAxis(node.getInt("axis", 0), node.inputType(0).getRank())) {
    std::optional<Sharding> parts = shardSplitParts(node, ways);
    return parts && parts->operands[0] == cut ? parts : std::nullopt;
  }
  for (const Factor &factor : factorsOf(node))
    if (factor.operands[operand] == cut.dim)
      return cutFactor(node, factor, cut.parts, ways);
  return std::nullopt;
}

std::optional<Sharding> shardByResult(onnx::NodeOp node, unsigned result, const Cut &cut,
                                      int64_t ways) {
  if (isViewNode(node))
    return shardView(node, cut, /*byResult=*/true, ways);
  if (isPackedAttention(node) && cut.dim != 0 && cut.parts.empty()) {
    std::optional<Sharding> heads = shardPackedHeads(node, ways);
    return heads && heads->results[result] == cut ? heads : std::nullopt;
  }
  if (node.is(op::Split) && cut.parts.empty() &&
      cut.dim == normalAxis(node.getInt("axis", 0), node.inputType(0).getRank()))
    return shardSplitParts(node, ways);
  for (const Factor &factor : factorsOf(node))
    if (result < factor.results.size() && factor.results[result] == cut.dim)
      return cutFactor(node, factor, cut.parts, ways);
  return std::nullopt;
}

void adjustAttributes(onnx::NodeOp node, int64_t ways) {
  NamedAttrList attrs(node.getAttrs());
  Builder builder(node.getContext());
  if (auto heads = node.getInts(kPackedHeads);
      heads && node.is(own::Attention) && node.inputType(0).getDimSize(2) != 0) {
    // Batches may be cut, too; then heads stay.
    const int64_t width = node.outputType(0).getShape().back();
    const int64_t all = node.outputType(0).getNumElements() /
                        (node.inputType(0).getDimSize(0) * node.inputType(0).getDimSize(1) * width);
    if (all != heads->front())
      attrs.set(kPackedHeads,
                builder.getDenseI64ArrayAttr({heads->front() / ways, heads->back() / ways}));
  }
  if (node.getInts("split")) {
    SmallVector<int64_t> sizes;
    for (unsigned index = 0; index < node.getNumResults(); ++index)
      sizes.push_back(node.outputType(index).getDimSize(
          normalAxis(node.getInt("axis", 0), node.outputType(index).getRank())));
    attrs.set("split", builder.getDenseI64ArrayAttr(sizes));
  }
  node.setAttrsAttr(attrs.getDictionary(node.getContext()));
}

} // namespace zero::ops
