//===- Step.cpp - the phase `step` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addStep(OpPassManager &pm, const StepOptions &options) {
  if (options.forwardOnly)
    return;
  BuildStepOptions step;
  step.optimizer = options.optimizer;
  if (options.betas.size() == 2) {
    step.beta1 = options.betas[0];
    step.beta2 = options.betas[1];
  } else if (options.optimizer == "lion") {
    step.beta2 = 0.99; // the paper's, and the flag's default
  }
  step.epsilon = options.epsilon;
  step.weightDecay = options.weightDecay;
  step.momentum = options.momentum;
  step.dampening = options.dampening;
  step.nesterov = options.nesterov;
  pm.addPass(createBuildStep(step));
  pm.addPass(createAverageBuffers());
  pm.addPass(createVerifyUpdates());
}
