//===- StepShards.cpp - steps of tensors whose shards ranks have ----------===//
//
// A step of a whole matrix or tensor needs the shards of all ranks along the axis tensor. They are
// gathered before it, each of these ranks computes the same step, and takes its own shard of it.
// `partition` makes one exchange of those of a bucket.
//
//===----------------------------------------------------------------------===//

#include "StepUpdates.h"

#include "dialects/Zero/Mesh.h"
#include "zero/Ops/AxisCollectives.h"

using namespace mlir;

namespace zero {

static AxisRanks tensorRanks(ModuleOp module) {
  return {kTensorAxis.str(), Mesh(module).tensorRanks()};
}

Value StepUpdates::gatherTensor(ParameterOp parameter, Value shard) {
  if (ShardAttr attr = shardOf(parameter))
    addInEpilogue(builder, [&] {
      NodeBuilder nodes(builder, parameter.getLoc(), (parameter.getSymName() + ".shards").str());
      shard = gatherShards(nodes, shard, cutFrom(attr), tensorRanks(module), HeldGradient::Whole);
    });
  return shard;
}

Value StepUpdates::takeOwnShard(ParameterOp parameter, Value whole) {
  if (ShardAttr attr = shardOf(parameter))
    addInEpilogue(builder, [&] {
      NodeBuilder nodes(builder, parameter.getLoc(), (parameter.getSymName() + ".shards").str());
      whole = takeShard(nodes, whole, cutFrom(attr), tensorRanks(module));
    });
  return whole;
}

} // namespace zero
