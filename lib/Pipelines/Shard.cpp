//===- Shard.cpp - the phase `shard` --------------------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Shard/Passes.h"

using namespace mlir;

void zero::addShard(OpPassManager &pm, const PhaseOptions &options) {
  if (!options.shard.any())
    return;
  PlanShardsOptions plan;
  plan.mesh = options.shard.mesh;
  plan.plan = options.shard.plan;
  pm.addPass(createPlanShards(plan));
  ShardTensorsOptions shard;
  shard.tokens = options.shard.sequenceParallel;
  pm.addPass(createShardTensors(shard));
}
