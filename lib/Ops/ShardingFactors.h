//===- ShardingFactors.h - index spaces of operators ------------*- C++ -*-===//

#ifndef LIB_OPS_SHARDINGFACTORS_H
#define LIB_OPS_SHARDINGFACTORS_H

#include "zero/Ops/Sharding.h"

namespace zero::ops {

/// The dimension of each operand and result that runs over one index space; -1: none.
struct Factor {
  llvm::SmallVector<int64_t> operands, results;
  bool isSummed = false;
};

using Factors = llvm::SmallVector<Factor>;

/// The factors of `node`; none for an operator without a rule.
Factors factorsOf(onnx::NodeOp node);

/// The cut of a view of shape `to` that shows the same shards as `cut` of shape `from`.
///
/// A cut of dimension d in a piece of both shapes divides its elements into equal parts, one for
/// each index of the dimensions before d, of which each is cut by itself.
std::optional<Cut> throughView(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
                               const Cut &cut, int64_t ways);

} // namespace zero::ops

#endif // LIB_OPS_SHARDINGFACTORS_H
