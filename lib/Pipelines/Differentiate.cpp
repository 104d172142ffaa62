//===- Differentiate.cpp - the phase `differentiate` ----------------------===//

#include "zero/Codegen/LibraryCalls.h"
#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Differentiate/Passes.h"
#include "zero/Transforms/Import/Passes.h"
#include "zero/Transforms/Lift/Passes.h"
#include "zero/Transforms/Recognise/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace zero;

/// Expands attention that is not to be one kernel, or for which the device has none. Only now,
/// because shards have whole heads of an attention, and its products do not say what heads are.
static void addExpandAttention(OpPassManager &pm, const PhaseOptions &options) {
  ExpandAttentionOptions expand;
  const bool isFused = options.differentiate.attention == AttentionKernels::Fused;
  if (isFused && options.kernels.device == Device::Cpu)
    return;
  if (isFused)
    expand.widest = kGpuAttentionWidth;
  pm.addNestedPass<func::FuncOp>(createExpandAttention(expand));
}

void zero::addGradients(OpPassManager &pm, const PhaseOptions &options) {
  addExpandAttention(pm, options);
  pm.addPass(createExpandGradients());
  if (!options.import.forwardOnly) {
    // What import could not do in a whole step with nodes of ONNX's domain for training.
    pm.addPass(createLiftUpdates());
    pm.addPass(createUpdateBuffers());
  }
  TileParametersOptions tiles;
  tiles.bytes = options.differentiate.tileParamsOver.getValue();
  pm.addPass(createTileParameters(tiles));
  if (!options.import.forwardOnly) {
    pm.addPass(createDifferentiate());
    // Rules of several users of a value often build the same node.
    pm.addPass(createCSEPass());
    pm.addPass(createVerifyGradients());
  }
  // Attention along `context` is one node with one gradient until now. Behind CSE, so that backward
  // gathers keys and values again instead of saving them.
  if (options.shard.any())
    pm.addNestedPass<func::FuncOp>(createExpandNodes());
}
