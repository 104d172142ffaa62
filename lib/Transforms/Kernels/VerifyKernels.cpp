//===- VerifyKernels.cpp - verify launches and costs ----------------------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Kernels/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_VERIFYKERNELS
#include "include/zero/Transforms/Kernels/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
struct VerifyKernels : zero::impl::VerifyKernelsBase<VerifyKernels> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    for (auto node : step->getBody().getOps<onnx::NodeOp>()) {
      node.emitError() << node.describe() << " is left after the kernels were formed";
      return signalPassFailure();
    }
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!kernel->hasAttr(kKernelAttr))
        continue;
      for (StringRef cost : {kFlopsAttr, kBytesAttr})
        if (!kernel->hasAttr(cost)) {
          kernel.emitError() << "kernel @" << kernel.getSymName() << " lacks " << cost;
          return signalPassFailure();
        }
    }
  }
};
} // namespace
