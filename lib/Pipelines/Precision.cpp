//===- Precision.cpp - the phase `precision` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addPrecision(OpPassManager &pm, const StepOptions &options) {
  SetPrecisionOptions precision;
  precision.precision = options.precision;
  precision.lossScale = options.lossScale > 0 ? options.lossScale : options.initialLossScale;
  pm.addPass(createSetPrecision(precision));
  if (!options.frozenPrecision.empty())
    pm.addPass(createSetFrozenPrecision({options.frozenPrecision}));
  pm.addPass(createVerifyPrecision());
}
