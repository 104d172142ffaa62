//===- Place.cpp - the phase `place` --------------------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Place/Passes.h"

using namespace mlir;

void zero::addActivations(OpPassManager &pm, const PhaseOptions &options) {
  if (options.import.forwardOnly)
    return;
  PlaceActivationsOptions activations;
  activations.mode = options.checkpointMode().fixed(Checkpoint::None);
  activations.slots = options.place.checkpointSlots;
  activations.partition = options.place.partitionActivations;
  pm.addPass(createPlaceActivations(activations));
  pm.addPass(createRecomputeActivations());
}

void zero::addPlacement(OpPassManager &pm, const PhaseOptions &options, bool isTrial) {
  if (options.checkpointMode().isAuto()) {
    RecomputeActivationsOptions recompute;
    recompute.quiet = isTrial;
    pm.addPass(createRecomputeActivations(recompute));
  }
  if (options.place.partitionActivations)
    pm.addPass(createMarkReplicated());
  PlaceStateOptions place;
  place.stage = options.place.stage;
  place.ranks = options.dataRanks();
  place.ranksPerNode = options.place.ranksPerNode;
  place.shardParams = options.place.shardParams;
  place.persistUnder = options.place.persistUnder.getValue();
  place.params = options.offload.params.fixed(Tier::Device);
  place.gradients = options.offload.gradients.fixed(Tier::Device);
  place.optimizer = options.offload.optimizer.fixed(Tier::Device);
  place.interleave = options.place.microBatchOrder.is(MicroBatchOrder::Vertical);
  AssignBucketsOptions buckets;
  buckets.limit = options.place.bucketBytes.getValue();
  pm.addPass(createPlaceState(place));
  pm.addPass(createAssignBuckets(buckets));
  if (options.plan.isPlanned())
    pm.addPass(createDivideState());
}
