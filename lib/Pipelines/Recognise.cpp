//===- Recognise.cpp - the phase `recognise` -----------------------------===//

#include "Pipelines.h"
#include "zero/Conversion/Passes.h"
#include "zero/Transforms/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

void zero::addRecognise(OpPassManager &pm, const StepOptions &options) {
  // Composites first, while the patterns are as the exporter wrote them; what is
  // left is expanded to nodes that have gradients and lowerings.
  pm.addNestedPass<func::FuncOp>(createFoldTransposes());
  pm.addNestedPass<func::FuncOp>(createRecogniseGelu());
  pm.addNestedPass<func::FuncOp>(createRecogniseSwish());
  pm.addNestedPass<func::FuncOp>(createRecogniseNormalization());
  pm.addNestedPass<func::FuncOp>(createRecogniseRotary());
  pm.addPass(createRecogniseAttention({options.dataRoot}));
  // Nothing computes it as one kernel there.
  if (options.device != "cpu")
    pm.addNestedPass<func::FuncOp>(createExpandAttention());
  SetSeedOptions seed;
  seed.seed = options.seed;
  pm.addPass(createSetSeed(seed));
  if (options.lossMean == "local")
    pm.addPass(createLocalLossMean());
  if (options.syncBatchNorm)
    pm.addPass(createSyncBatchNorm());
  pm.addNestedPass<func::FuncOp>(createExpandNodes());
  pm.addNestedPass<func::FuncOp>(createFoldTransposes());
  pm.addNestedPass<func::FuncOp>(createFoldAttentionLayouts());
  pm.addPass(createCSEPass());
}
