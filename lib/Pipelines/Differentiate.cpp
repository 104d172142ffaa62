//===- Differentiate.cpp - the phase `differentiate` ----------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Differentiate/Passes.h"
#include "zero/Transforms/Import/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

void zero::addGradients(OpPassManager &pm, const PhaseOptions &options) {
  pm.addPass(createExpandGradients());
  if (!options.import.forwardOnly) {
    // What import could not do in a whole step with nodes of ONNX's domain for training.
    pm.addPass(createLiftUpdates());
    pm.addPass(createUpdateBuffers());
  }
  TileParametersOptions tiles;
  tiles.bytes = options.differentiate.tileParamsOver.getValue();
  pm.addPass(createTileParameters(tiles));
  if (options.import.forwardOnly)
    return;
  pm.addPass(createDifferentiate());
  // Rules of several users of a value often build the same node.
  pm.addPass(createCSEPass());
  pm.addPass(createVerifyGradients());
}
