//===- Schedule.cpp - the phase `schedule` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addSchedule(OpPassManager &pm, const StepOptions &options) {
  pm.addPass(createVerifyStateOrder());
}
