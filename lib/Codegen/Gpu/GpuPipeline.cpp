//===- GpuPipeline.cpp - the passes for kernels on a GPU ------------------===//

#include "zero/Codegen/Compile.h"
#include "zero/Codegen/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace zero {

void buildGpuCodegenPipeline(OpPassManager &manager, StringRef hostCpu) {
  MatchLibraryOptions library;
  library.device = Device::Cuda;
  FuseKernelsOptions fusion;
  fusion.forGpu = true;
  BufferizeKernelsOptions buffers;
  buffers.forGpu = true;
  manager.addNestedPass<func::FuncOp>(createAnnotateCosts());
  manager.addPass(createMatchLibrary(library));
  if (!hostCpu.empty())
    manager.addPass(createCloneHostKernels({hostCpu.str()}));
  manager.addNestedPass<func::FuncOp>(createWidenSums());
  manager.addNestedPass<func::FuncOp>(createFuseKernels(fusion));
  manager.addPass(createBufferizeKernels(buffers));
  manager.addNestedPass<func::FuncOp>(createBlockSums());
  manager.addNestedPass<func::FuncOp>(createApproximateFunctions());
  manager.addNestedPass<func::FuncOp>(createCollapseLoops());
  manager.addNestedPass<func::FuncOp>(createChooseThreads());
  manager.addNestedPass<func::FuncOp>(createSplitColumnSums());
  manager.addNestedPass<func::FuncOp>(createClampIndices());
  manager.addNestedPass<func::FuncOp>(createLaunchKernels());
}

} // namespace zero
