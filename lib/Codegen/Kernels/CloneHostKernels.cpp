//===- CloneHostKernels.cpp - kernels for the host of a GPU ---------------===//

#include "dialects/Zero/Zero.h"
#include "zero/Codegen/Passes.h"
#include "zero/Codegen/TargetCpu.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_CLONEHOSTKERNELS
#include "include/zero/Codegen/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
struct CloneHostKernels : zero::impl::CloneHostKernelsBase<CloneHostKernels> {
  using CloneHostKernelsBase::CloneHostKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::Expected<CpuAttr> cpu = findTargetCpu(&getContext(), targetCpu);
    if (!cpu) {
      module.emitError() << "target-cpu: " << llvm::toString(cpu.takeError());
      return signalPassFailure();
    }
    module->setAttr(kTargetCpuAttr, *cpu);
    for (auto kernel : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (isNativeKernel(kernel) && !kernel.isDeclaration())
        clone(kernel);
  }

  void clone(func::FuncOp kernel) {
    OpBuilder builder(kernel);
    builder.setInsertionPointAfter(kernel);
    auto made = cast<func::FuncOp>(builder.clone(*kernel));
    made.setName(hostKernelName(kernel.getName()));
    made->setAttr(kHostKernelAttr, builder.getUnitAttr());
  }
};
} // namespace
