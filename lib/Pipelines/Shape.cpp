//===- Shape.cpp - the phase `shape` --------------------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Shape/Passes.h"

using namespace mlir;
using namespace zero;

/// Bytes of logits at a time; 0: what the passes choose, which is good for the caches of a CPU. A
/// GPU would read and write the gradient of the vocabulary once for each of these small tiles.
static uint64_t logitsBytes(const PhaseOptions &options) {
  constexpr uint64_t kOnGpu = 256 << 20;
  const uint64_t given = options.shape.logitsBytes.getValue();
  return given > 0 || options.kernels.device == Device::Cpu ? given : kOnGpu;
}

/// What only a step with a backward pass needs.
static void addTraining(OpPassManager &pm, const PhaseOptions &options) {
  // Before values are recomputed, since these nodes read some.
  pm.addPass(createSinkResiduals());
  TileProjectionOptions tiles;
  tiles.bytes = logitsBytes(options);
  pm.addPass(createTileProjection(tiles));
  pm.addPass(createExpandShardedLosses());
  pm.addPass(createAddIntoTables());
  RecomputeCheapOptions recompute;
  recompute.what = options.shape.recompute;
  // Where layers are recomputed, so are their gathers.
  recompute.gathers = options.shard.sequenceParallel && options.place.checkpointSlots == 0 &&
                      options.checkpointMode().is(Checkpoint::None);
  pm.addPass(createRecomputeCheap(recompute));
}

void zero::addShape(OpPassManager &pm, const PhaseOptions &options) {
  TileVocabularyOptions parts;
  parts.bytes = logitsBytes(options);
  pm.addPass(createTileVocabulary(parts));
  if (options.kernels.device == Device::Cpu)
    pm.addPass(createPackRecurrentWeights());
  if (!options.import.forwardOnly)
    addTraining(pm, options);
  pm.addPass(createEncodeParameters());
}
