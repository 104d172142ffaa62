//===- Kernels.cpp - the phase `kernels` ----------------------------------===//

#include "zero/Codegen/Compile.h"
#include "zero/Pipelines/Pipelines.h"
#include "zero/Transforms/Kernels/Passes.h"

using namespace mlir;

void zero::addKernels(OpPassManager &pm, const PhaseOptions &all) {
  const phase::KernelOptions &options = all.kernels;
  pm.addPass(createViewSlices());
  if (options.device != Device::Cpu) {
    pm.addNestedPass<func::FuncOp>(createSortRows());
    pm.addPass(createChunkSums());
  }
  pm.addPass(createFormKernels());
  // Before fusing anything: thousands of kernels become a few dozen.
  pm.addPass(createDeduplicateKernels());
  if (options.device == Device::Cpu)
    buildCodegenPipeline(pm, options.threadsPerRank, options.targetCpu.getValue());
  else
    buildGpuCodegenPipeline(pm, all.offload.any() ? StringRef(options.targetCpu.getValue()) : "");
  if (!all.plan.lengths.empty())
    pm.addPass(createCountLengths({all.plan.lengths}));
  pm.addPass(createVerifyKernels());
}
