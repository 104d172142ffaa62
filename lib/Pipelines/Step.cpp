//===- Step.cpp - the phase `step` ----------------------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Step/Passes.h"

using namespace mlir;

void zero::addStep(OpPassManager &pm, const PhaseOptions &options) {
  if (options.import.forwardOnly)
    return;
  BuildStepOptions step;
  step.optimizer = options.step.optimizer;
  step.otherOptimizer = options.step.otherOptimizer;
  step.otherLearningRate = options.step.otherLearningRate;
  step.otherWeightDecay = options.step.otherWeightDecay;
  step.matrixParams.assign(options.step.matrixParams.begin(), options.step.matrixParams.end());
  step.otherParams.assign(options.step.otherParams.begin(), options.step.otherParams.end());
  step.paramGroups.assign(options.step.paramGroups.begin(), options.step.paramGroups.end());
  step.noDecay.assign(options.step.noDecay.begin(), options.step.noDecay.end());
  step.statePrecision.assign(options.step.statePrecision.begin(),
                             options.step.statePrecision.end());
  step.masterWeights = options.precision.masterWeights;
  step.scheduleKind = options.step.schedule;
  step.warmupSteps = options.step.warmupSteps;
  step.totalSteps = options.step.totalSteps;
  step.minLearningRate = options.step.minLearningRate;
  step.warmupForm = options.step.warmupForm;
  step.warmupRatio = options.step.warmupRatio;
  step.lrPower = options.step.lrPower;
  step.lrCycles = options.step.lrCycles;
  step.decaySteps = options.step.decaySteps;
  step.decayForm = options.step.decayForm;
  step.lrPoints.assign(options.step.lrPoints.begin(), options.step.lrPoints.end());
  step.ema = options.step.ema;
  step.emaEvery = options.step.emaEvery;
  step.emaStart = options.step.emaStart;
  step.clipNorm = options.step.clipNorm;
  step.clipByPrevious = options.step.clipByPrevious;
  step.microBatches = options.step.microBatches;
  step.gradPrecision = options.step.gradPrecision;
  step.nonFinite = options.step.nonFinite;
  step.skipAbove = options.step.skipAbove;
  step.skipSpikes = options.step.skipSpikes;
  step.lossScale = options.precision.lossScale;
  step.minLossScale = options.precision.minLossScale;
  step.lossScaleWindow = options.precision.lossScaleWindow;
  step.patience = options.precision.lossScaleHysteresis;
  step.settings = options.step.optimizerOptions().text();
  pm.addPass(createBuildStep(step));
  pm.addPass(createSplitPrologue());
  pm.addPass(createAverageBuffers());
  pm.addPass(createVerifyUpdates());
  pm.addPass(createVerifyEvaluation());
}
