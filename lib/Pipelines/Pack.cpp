//===- Pack.cpp - the phase `pack` ----------------------------------------===//

#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Pack/Passes.h"

using namespace mlir;

void zero::addPack(OpPassManager &pm, const PhaseOptions &) {
  pm.addPass(createPackArena());
  pm.addPass(createVerifyPacking());
}
