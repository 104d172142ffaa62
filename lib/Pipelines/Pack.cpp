//===- Pack.cpp - the phase `pack` -----------------------------===//

#include "Pipelines.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addPack(OpPassManager &pm) {
  pm.addPass(createPackArena());
  pm.addPass(createVerifyPacking());
}
