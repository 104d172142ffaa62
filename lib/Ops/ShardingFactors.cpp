//===- ShardingFactors.cpp - index spaces of operators --------------------===//
//
// A rule of an operator lists its factors: index spaces that its loops run over, each with the
// dimension that it is of every operand and result. Elementwise operators and products have rules
// by their kind; the others are in the table at the end.
//
//===----------------------------------------------------------------------===//

#include "ShardingFactors.h"

#include "Lowering.h"
#include "zero/Ops/Attention.h"
#include "zero/Ops/Axes.h"

using namespace mlir;

namespace zero::ops {

static int64_t extentAt(RankedTensorType type, int64_t dim) {
  return dim < 0 || dim >= type.getRank() ? 1 : type.getDimSize(dim);
}

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

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

Factors factorsOf(onnx::NodeOp node) {
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

} // namespace zero::ops
