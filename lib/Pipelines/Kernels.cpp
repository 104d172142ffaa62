//===- Kernels.cpp - the phase `kernels` -----------------------------===//

#include "Pipelines.h"
#include "zero/Codegen/Compile.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addKernels(OpPassManager &pm, const StepOptions &options) {
  pm.addPass(createFormKernels());
  // Before fusing anything: thousands of kernels become a few dozen.
  pm.addPass(createDeduplicateKernels());
  if (options.device == "cpu")
    buildCodegenPipeline(pm, options.threadsPerRank);
  else
    buildGpuCodegenPipeline(pm, /*simulated=*/options.device == "simulated");
  pm.addPass(createVerifyKernels());
}
