//===- Sharding.h - how operators compute on shards -------------*- C++ -*-===//
// Ranks along an axis of the mesh may each hold a shard of a tensor: equal parts of one dimension.
// The factors of an operator say which dimensions of its operands and results are cut together, so
// that each rank applies the same operator to its shards.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPS_SHARDING_H
#define ZERO_OPS_SHARDING_H

#include "zero/Ops/Factors.h"

#include <optional>

namespace zero::ops {

/// A dimension that is cut. With `parts`, whose extents add up to the dimension's, each part is cut
/// by itself and a shard consists of a share of each: the joint projection of queries, keys and
/// values.
struct Cut {
  int64_t dim = 0;
  llvm::SmallVector<int64_t> parts = {};

  bool operator==(const Cut &) const = default;
};

/// The shape of a shard of `type`; nothing unless `ways` divides each part of the dimension.
std::optional<llvm::SmallVector<int64_t>> shardShape(mlir::RankedTensorType type, const Cut &cut,
                                                     int64_t ways);

/// How one node computes on shards. An operand or result without a cut is held whole by each rank.
struct Sharding {
  llvm::SmallVector<std::optional<Cut>> operands, results;
  /// What the ranks' results without a cut are to the node's. An addend is added to a sum once.
  FactorKind kind = FactorKind::Parallel;
  int64_t addend = -1;
};

/// The sharding of `node` for `ways` ranks in which operand `operand` has `cut`; nothing if the
/// operator cannot compute on such shards.
std::optional<Sharding> shardByOperand(onnx::NodeOp node, unsigned operand, const Cut &cut,
                                       int64_t ways);
/// The sharding of `node` in which result `result` has `cut`.
std::optional<Sharding> shardByResult(onnx::NodeOp node, unsigned result, const Cut &cut,
                                      int64_t ways);

/// Changes what `node`, whose operands and results have the types of shards already, says of the
/// extents of whole tensors: attributes, and the operand that is the shape of the result.
void adjustExtents(onnx::NodeOp node, int64_t ways);

} // namespace zero::ops

#endif // ZERO_OPS_SHARDING_H
