//===- Shape.cpp - the phase `shape` --------------------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Shape/Passes.h"

using namespace mlir;

void zero::addShape(OpPassManager &pm, const PhaseOptions &options) {
  TileVocabularyOptions parts;
  parts.bytes = options.shape.logitsBytes.getValue();
  pm.addPass(createTileVocabulary(parts));
  if (options.import.forwardOnly)
    return;
  // Before values are recomputed, since these nodes read some.
  pm.addPass(createSinkResiduals());
  TileProjectionOptions tiles;
  tiles.bytes = options.shape.logitsBytes.getValue();
  pm.addPass(createTileProjection(tiles));
  pm.addPass(createAddIntoTables());
  RecomputeCheapOptions recompute;
  recompute.what = options.shape.recompute;
  pm.addPass(createRecomputeCheap(recompute));
}
