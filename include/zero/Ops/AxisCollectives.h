//===- AxisCollectives.h - collectives along an axis as nodes ---*- C++ -*-===//

#ifndef ZERO_OPS_AXISCOLLECTIVES_H
#define ZERO_OPS_AXISCOLLECTIVES_H

#include "dialects/Zero/Zero.h"
#include "zero/Ops/NodeBuilder.h"
#include "zero/Ops/Sharding.h"

namespace zero {

/// The ranks along one axis of the mesh.
struct AxisRanks {
  std::string name;
  int64_t count = 1;
};

/// What the ranks along an axis have as gradients of a value that all of them hold.
enum class HeldGradient {
  Whole,    ///< each has all of it: they compute the same from the value
  Summands, ///< their sum is the gradient: each uses the value for its own shard
};

/// `value`, which the ranks along `ranks` hold alike, for nodes that compute on shards: its
/// gradient is the sum of those of the ranks.
mlir::Value enterShards(NodeBuilder &builder, mlir::Value value, const AxisRanks &ranks);
/// The sum over ranks of `value`; its gradient is that of the sum.
mlir::Value sumOverAxis(NodeBuilder &builder, mlir::Value value, const AxisRanks &ranks);
/// The cut of the shard of a parameter.
ops::Cut cutFrom(ShardAttr shard);
/// The whole tensor of which each rank has the shard `value`: the shards are gathered once, and
/// what follows is local.
mlir::Value gatherShards(NodeBuilder &builder, mlir::Value value, const ops::Cut &cut,
                         const AxisRanks &ranks, HeldGradient gradient);
/// The rank's shard of `value`, which all ranks hold.
mlir::Value takeShard(NodeBuilder &builder, mlir::Value value, const ops::Cut &cut,
                      const AxisRanks &ranks);
/// The rank's shard of the sum over ranks of `value`. `cut` has no parts.
mlir::Value scatterSum(NodeBuilder &builder, mlir::Value value, const ops::Cut &cut,
                       const AxisRanks &ranks);
/// The rank's tokens of `value`, which all ranks hold, where the dimension of `cut`, or each of its
/// parts, is the tokens of a sequence: chunks r and 2n - 1 - r of 2n equal ones for rank r of n. So
/// all ranks have as many pairs of a query and an earlier key. The gradient is that of the rank.
mlir::Value takeTokens(NodeBuilder &builder, mlir::Value value, const ops::Cut &cut,
                       const AxisRanks &ranks);
/// The tokens of the rank with `coordinate`.
mlir::Value takeTokensOf(NodeBuilder &builder, mlir::Value value, const ops::Cut &cut,
                         const AxisRanks &ranks, mlir::Value coordinate);
/// The coordinate of the rank: an i64 scalar.
mlir::Value coordinateOf(NodeBuilder &builder, const AxisRanks &ranks);

} // namespace zero

#endif // ZERO_OPS_AXISCOLLECTIVES_H
