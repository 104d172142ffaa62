//===- Place.cpp - the phase `place` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addPlace(OpPassManager &pm, const StepOptions &options) {
  addActivations(pm, options);
  if (isPlanned(options))
    pm.addPass(createPlanMemory(options));
  addPlacement(pm, options, /*isTrial=*/false);
}

zero::Tier zero::fixedTier(StringRef option) {
  return symbolizeTier(option).value_or(Tier::Device);
}

void zero::addActivations(OpPassManager &pm, const StepOptions &options) {
  if (options.forwardOnly)
    return;
  StringRef mode = zero::checkpointMode(options);
  PlaceActivationsOptions activations;
  activations.mode = mode == "auto" ? "none" : mode.str();
  activations.slots = options.checkpointSlots;
  activations.partition = options.partitionActivations;
  pm.addPass(createPlaceActivations(activations));
  pm.addPass(createRecomputeActivations());
}

void zero::addPlacement(OpPassManager &pm, const StepOptions &options, bool isTrial) {
  if (zero::checkpointMode(options) == "auto") {
    RecomputeActivationsOptions recompute;
    recompute.quiet = isTrial;
    pm.addPass(createRecomputeActivations(recompute));
  }
  PlaceStateOptions place;
  place.stage = options.stage;
  place.ranks = options.ranks;
  place.persistUnder = options.persistUnder.getValue();
  place.params = fixedTier(options.offloadParams);
  place.gradients = fixedTier(options.offloadGradients);
  place.optimizer = fixedTier(options.offloadOptimizer);
  AssignBucketsOptions buckets;
  buckets.limit = options.bucketBytes.getValue();
  pm.addPass(createPlaceState(place));
  pm.addPass(createAssignBuckets(buckets));
}
