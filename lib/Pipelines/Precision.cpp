//===- Precision.cpp - the phase `precision` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addPrecision(OpPassManager &pm, const phase::PrecisionOptions &options) {
  SetPrecisionOptions precision;
  precision.precision = options.stored;
  precision.lossScale = options.lossScale > 0 ? options.lossScale : options.initialLossScale;
  pm.addPass(createSetPrecision(precision));
  if (options.frozen.hasValue())
    pm.addPass(createSetFrozenPrecision({options.frozen}));
  pm.addPass(createVerifyPrecision());
}
