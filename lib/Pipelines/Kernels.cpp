//===- Kernels.cpp - the phase `kernels` -----------------------------===//

#include "Pipelines.h"
#include "zero/Codegen/Compile.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

void zero::addKernels(OpPassManager &pm, const phase::KernelOptions &options) {
  pm.addPass(createFormKernels());
  // Before fusing anything: thousands of kernels become a few dozen.
  pm.addPass(createDeduplicateKernels());
  if (options.device == Device::Cpu)
    buildCodegenPipeline(pm, options.threadsPerRank);
  else
    buildGpuCodegenPipeline(pm, /*simulated=*/options.device == Device::Simulated);
  pm.addPass(createVerifyKernels());
}
