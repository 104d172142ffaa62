//===- Step.cpp - the phase `step` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addStep(OpPassManager &pm, const StepOptions &options) {
  if (options.forwardOnly)
    return;
  BuildStepOptions step;
  step.optimizer = options.optimizer;
  step.paramGroups.assign(options.paramGroups.begin(), options.paramGroups.end());
  step.noDecay.assign(options.noDecay.begin(), options.noDecay.end());
  step.scheduleKind = options.schedule;
  step.warmupSteps = options.warmupSteps;
  step.totalSteps = options.totalSteps;
  step.minLearningRate = options.minLearningRate;
  step.clipNorm = options.clipNorm;
  step.microBatches = options.microBatches;
  step.lossScale = options.lossScale;
  step.minLossScale = options.minLossScale;
  step.lossScaleWindow = options.lossScaleWindow;
  step.patience = options.lossScaleHysteresis;
  step.settings = options.optimizerOptions().text();
  pm.addPass(createBuildStep(step));
  pm.addPass(createSplitPrologue());
  pm.addPass(createAverageBuffers());
  pm.addPass(createVerifyUpdates());
}
