//===- Place.cpp - the phase `place` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addPlace(OpPassManager &pm, const StepOptions &options) {
  if (isPlanned(options))
    pm.addPass(createPlanMemory(options));
  addPlacement(pm, options);
}

void zero::addPlacement(OpPassManager &pm, const StepOptions &options) {
  PlaceStateOptions place;
  place.stage = options.stage;
  place.ranks = options.ranks;
  place.persistUnder = options.persistUnder.getValue();
  AssignBucketsOptions buckets;
  buckets.limit = options.bucketBytes.getValue();
  if (!options.forwardOnly) {
    PlaceActivationsOptions activations;
    activations.mode = options.checkpoint;
    activations.slots = options.checkpointSlots;
    pm.addPass(createPlaceActivations(activations));
    pm.addPass(createRecomputeActivations());
  }
  pm.addPass(createPlaceState(place));
  pm.addPass(createAssignBuckets(buckets));
}
