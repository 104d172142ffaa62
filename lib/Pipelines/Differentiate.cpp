//===- Differentiate.cpp - the phase `differentiate` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

void zero::addDifferentiate(OpPassManager &pm, const StepOptions &options) {
  if (plansTiles(options))
    pm.addPass(createPlanTiles(options));
  addGradients(pm, options);
}

void zero::addGradients(OpPassManager &pm, const StepOptions &options) {
  TileParametersOptions tiles;
  tiles.bytes = options.tileParamsOver.getValue();
  pm.addPass(createTileParameters(tiles));
  if (options.forwardOnly)
    return;
  pm.addPass(createDifferentiate());
  // Rules of several users of a value often build the same node.
  pm.addPass(createCSEPass());
  pm.addPass(createVerifyGradients());
}
