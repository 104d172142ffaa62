//===- Shape.cpp - the phase `shape` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addShape(OpPassManager &pm, const StepOptions &options) {
  TileVocabularyOptions parts;
  parts.bytes = options.logitsBytes.getValue();
  pm.addPass(createTileVocabulary(parts));
  if (options.forwardOnly)
    return;
  TileProjectionOptions tiles;
  tiles.bytes = options.logitsBytes.getValue();
  pm.addPass(createTileProjection(tiles));
  pm.addPass(createAddIntoTables());
  RecomputeCheapOptions recompute;
  recompute.what = options.recompute;
  pm.addPass(createRecomputeCheap(recompute));
}
