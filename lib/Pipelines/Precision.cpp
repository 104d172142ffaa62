//===- Precision.cpp - the phase `precision` ------------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Precision/Passes.h"

using namespace mlir;

void zero::addPrecision(OpPassManager &pm, const PhaseOptions &all) {
  const phase::PrecisionOptions &options = all.precision;
  SetPrecisionOptions precision;
  precision.precision = options.stored;
  precision.lossScale = options.lossScale > 0 ? options.lossScale : options.initialLossScale;
  pm.addPass(createSetPrecision(precision));
  if (options.frozen.hasValue())
    pm.addPass(createSetFrozenPrecision({options.frozen}));
  pm.addPass(createVerifyPrecision());
}
