//===- Kernels.cpp - the phase `kernels` -----------------------------===//

#include "Pipelines.h"
#include "zero/Codegen/Passes.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addKernels(OpPassManager &pm, const StepOptions &options) {
  pm.addPass(createFormKernels());
  // Before fusing anything: thousands of kernels become a few dozen.
  pm.addPass(createDeduplicateKernels());
  pm.addNestedPass<func::FuncOp>(createAnnotateCosts());
  pm.addNestedPass<func::FuncOp>(createMatchLibrary());
  pm.addNestedPass<func::FuncOp>(createFuseKernels());
  pm.addPass(createBufferizeKernels());
  pm.addPass(createVerifyKernels());
}
