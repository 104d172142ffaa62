//===- Recognise.cpp - the phase `recognise` ------------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Recognise/Passes.h"
#include "zero/Transforms/Shard/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

void zero::addRecognise(OpPassManager &pm, const PhaseOptions &options) {
  // Composites are recognized first, while the patterns are those of the exporter. The other nodes
  // are then expanded to nodes that have gradients and lowerings.
  pm.addNestedPass<func::FuncOp>(createFoldTransposes());
  pm.addNestedPass<func::FuncOp>(createRecogniseMean());
  pm.addNestedPass<func::FuncOp>(createRecogniseSoftmaxGrad());
  pm.addNestedPass<func::FuncOp>(createRecogniseSoftmax());
  pm.addNestedPass<func::FuncOp>(createRecogniseGelu());
  pm.addNestedPass<func::FuncOp>(createRecogniseSwish());
  pm.addNestedPass<func::FuncOp>(createRecogniseLogSigmoid());
  pm.addNestedPass<func::FuncOp>(createRecogniseAtan2());
  pm.addNestedPass<func::FuncOp>(createRecogniseNormalization());
  pm.addNestedPass<func::FuncOp>(createRecogniseRotary());
  pm.addPass(createRecogniseAttention({options.import.dataRoot}));
  SetSeedOptions seed;
  seed.seed = options.recognise.seed;
  pm.addPass(createSetSeed(seed));
  if (options.recognise.lossMean == LossMean::Local)
    pm.addPass(createLocalLossMean());
  if (options.recognise.syncBatchNorm)
    pm.addPass(createSyncBatchNorm());
  pm.addNestedPass<func::FuncOp>(createExpandNodes());
  if (options.shard.any()) {
    // Attention is cut as it is stored.
    pm.addNestedPass<func::FuncOp>(createFoldTransposes());
    pm.addNestedPass<func::FuncOp>(createFoldAttentionLayouts());
    pm.addPass(createCutSequences({options.shard.mesh}));
  }
  if (options.recognise.lossMean == LossMean::Global)
    pm.addPass(createComputeWholeBatch({options.dataRanks(), options.step.microBatches}));
  pm.addNestedPass<func::FuncOp>(createFoldTransposes());
  pm.addNestedPass<func::FuncOp>(createFoldAttentionLayouts());
  pm.addPass(createCSEPass());
}
