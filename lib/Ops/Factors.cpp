//===- Factors.cpp - dimensions that belong together ----------------------===//
//
// Operators state their factors in their definitions. Those of elementwise operators and of
// products follow from their kind.
//
//===----------------------------------------------------------------------===//

#include "zero/Ops/Factors.h"

#include "Lowering.h"

using namespace mlir;

namespace zero::ops {

static RankedTensorType typeOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

static int64_t extentAt(RankedTensorType type, int64_t dim) {
  return dim < 0 || dim >= type.getRank() ? 1 : type.getDimSize(dim);
}

/// The dimension of an operand of `type` that is dimension `dim` of `result`, to which it
/// broadcasts; -1 if it has none.
static int64_t broadcastDim(RankedTensorType type, RankedTensorType result, int64_t dim) {
  const int64_t own = type ? dim - result.getRank() + type.getRank() : -1;
  return own >= 0 && type.getDimSize(own) == result.getDimSize(dim) ? own : -1;
}

FactorBuilder &FactorBuilder::add(ArrayRef<int64_t> operands, ArrayRef<int64_t> results,
                                  FactorKind kind, int64_t addend) {
  Factor factor{SmallVector<int64_t>(operands), SmallVector<int64_t>(results), kind, -1};
  factor.operands.resize(node.getInputs().size(), -1);
  factor.results.resize(node.getNumResults(), -1);
  auto forget = [](auto values, auto &dims) {
    for (auto [value, dim] : llvm::zip_equal(values, dims))
      if (!typeOf(value))
        dim = -1;
  };
  forget(node.getInputs(), factor.operands);
  forget(node.getOutputs(), factor.results);
  if (addend >= 0 && node.hasInput(addend))
    factor.addend = addend;
  factors.push_back(std::move(factor));
  return *this;
}

FactorBuilder &FactorBuilder::addAllBut(ArrayRef<int64_t> axes) {
  RankedTensorType first = node.inputType(0);
  for (int64_t dim = 0; dim < first.getRank(); ++dim) {
    if (llvm::is_contained(axes, dim))
      continue;
    const int64_t before = llvm::count_if(axes, [&](int64_t axis) { return axis < dim; });
    bool areAlike = true;
    auto dimsOf = [&](auto values) {
      SmallVector<int64_t> dims;
      for (Value value : values) {
        RankedTensorType type = typeOf(value);
        const bool hasAll = type && type.getRank() == first.getRank();
        const bool lacksAxes = type && isa<OpResult>(value) && value.getDefiningOp() == node &&
                               type.getRank() + int64_t(axes.size()) == first.getRank();
        dims.push_back(hasAll ? dim : lacksAxes ? dim - before : -1);
        areAlike &= dims.back() < 0 || type.getDimSize(dims.back()) == first.getDimSize(dim);
      }
      return dims;
    };
    SmallVector<int64_t> operands = dimsOf(node.getInputs()), results = dimsOf(node.getOutputs());
    if (areAlike)
      add(operands, results);
  }
  return *this;
}

FactorBuilder &FactorBuilder::addBroadcast(int64_t count) {
  RankedTensorType result = node.outputType(0);
  for (int64_t dim = 0; dim < std::min(count, result.getRank()); ++dim) {
    SmallVector<int64_t> operands;
    for (Value input : node.getInputs())
      operands.push_back(broadcastDim(typeOf(input), result, dim));
    add(operands, SmallVector<int64_t>(node.getNumResults(), dim));
  }
  return *this;
}

/// a [.., m, k] by b [.., k, n], with batches that broadcast; a vector has only k.
static Factors productFactors(onnx::NodeOp node) {
  RankedTensorType a = node.inputType(0), b = node.inputType(1), c = node.outputType(0);
  const bool transA = node.getInt("transA", 0), transB = node.getInt("transB", 0);
  const bool isRowA = a.getRank() == 1, isColumnB = b.getRank() == 1;
  const int64_t kOfA = isRowA ? 0 : a.getRank() - (transA ? 2 : 1);
  const int64_t kOfB = isColumnB ? 0 : b.getRank() - (transB ? 1 : 2);
  FactorBuilder factors(node);
  auto add = [&](int64_t inA, int64_t inB, int64_t inC) {
    SmallVector<int64_t> operands{inA, inB};
    for (Value input : node.getInputs().drop_front(2)) // what is added broadcasts to the result
      operands.push_back(broadcastDim(typeOf(input), c, inC));
    factors.add(operands, inC);
  };
  factors.add({kOfA, kOfB}, {}, FactorKind::Sum, /*addend=*/2);
  if (!isRowA)
    add(a.getRank() - (transA ? 1 : 2), -1, c.getRank() - (isColumnB ? 1 : 2));
  if (!isColumnB)
    add(-1, b.getRank() - (transB ? 2 : 1), c.getRank() - 1);
  const int64_t batches = std::max(a.getRank(), b.getRank()) - 2;
  for (int64_t dim = 0; dim < batches; ++dim) {
    const int64_t inA = dim - batches + a.getRank() - 2, inB = dim - batches + b.getRank() - 2;
    add(extentAt(a, inA) == c.getDimSize(dim) ? inA : -1,
        extentAt(b, inB) == c.getDimSize(dim) ? inB : -1, dim);
  }
  return factors.take();
}

Factors factorsOf(onnx::NodeOp node) {
  const OpDef *def = lookup(node);
  if (!def)
    return {};
  if (def->factors)
    return def->factors(node);
  if (def->kind == Kind::Elementwise)
    return FactorBuilder(node).addBroadcast().take();
  return def->kind == Kind::Product ? productFactors(node) : Factors();
}

} // namespace zero::ops
