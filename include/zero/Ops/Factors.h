//===- Factors.h - dimensions that belong together --------------*- C++ -*-===//
// A node computes along index spaces. A factor lists the dimension that each operand and result has
// in one of them. If these dimensions are divided into equal parts, the node computes on parts of
// its operands what it computes on the whole, as GSPMD (Xu et al., arXiv 2105.04663) and the op
// sharding rules of Shardy have it. A dimension that is in no factor has to be whole: the node
// moves elements along it, or combines them in another way.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPS_FACTORS_H
#define ZERO_OPS_FACTORS_H

#include "dialects/Onnx/Onnx.h"

namespace zero::ops {

/// What a result that lacks the dimension is of the results for the parts.
enum class FactorKind {
  Parallel, ///< each of them: it does not depend on what is divided
  Sum,      ///< their sum
  Mean,     ///< their mean, if the parts are equally large
};

/// The dimension of each operand and result in one index space; -1: none.
struct Factor {
  llvm::SmallVector<int64_t> operands, results;
  FactorKind kind = FactorKind::Parallel;
  /// An operand that is added to a sum once, not by each part, as the third of a Gemm; -1: none.
  int64_t addend = -1;
};

using Factors = llvm::SmallVector<Factor>;
/// The factors of one operator; see OpDef.
using FactorsFn = Factors (*)(onnx::NodeOp node);

/// The factors of `node`, by its definition; none for an operator that says nothing.
Factors factorsOf(onnx::NodeOp node);

/// Collects the factors of a node.
class FactorBuilder {
public:
  explicit FactorBuilder(onnx::NodeOp node) : node(node) {}

  /// Adds an index space. The first operands and results have the listed dimensions, the others
  /// none; nor has an operand that is absent.
  FactorBuilder &add(llvm::ArrayRef<int64_t> operands, llvm::ArrayRef<int64_t> results,
                     FactorKind kind = FactorKind::Parallel, int64_t addend = -1);
  /// Adds every dimension of the first operand but `axes`. All operands and results of its rank
  /// have it. A dimension in which these differ is left out. A result of a lower rank lacks `axes`.
  FactorBuilder &addAllBut(llvm::ArrayRef<int64_t> axes);
  /// Adds the first `count` dimensions of the result, to which operands broadcast as in NumPy.
  FactorBuilder &addBroadcast(int64_t count = INT64_MAX);
  Factors take() { return std::move(factors); }

private:
  onnx::NodeOp node;
  Factors factors;
};

/// Those of an operator that works along one axis, `axis` or, without that attribute, `fallback`.
template <int64_t fallback>
Factors factorsAcrossAxis(onnx::NodeOp node) {
  const int64_t axis = node.getInt("axis", fallback);
  return FactorBuilder(node).addAllBut(axis < 0 ? axis + node.inputType(0).getRank() : axis).take();
}

} // namespace zero::ops

#endif // ZERO_OPS_FACTORS_H
