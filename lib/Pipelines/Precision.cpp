//===- Precision.cpp - the phase `precision` -----------------------------===//

#include "Pipelines.h"

using namespace mlir;

void zero::addPrecision(OpPassManager &pm, const StepOptions &options) {}
