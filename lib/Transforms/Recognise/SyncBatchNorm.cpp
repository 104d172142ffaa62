//===- SyncBatchNorm.cpp - statistics over all ranks' batches -------------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/BatchNorm.h"
#include "zero/Transforms/Recognise/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SYNCBATCHNORM
#include "include/zero/Transforms/Recognise/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
struct SyncBatchNorm : zero::impl::SyncBatchNormBase<SyncBatchNorm> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    bool any = llvm::any_of(step->getBody().getOps<onnx::NodeOp>(), trainsBatchNorm);
    if (!any) {
      getOperation().emitError("--sync-batchnorm has no effect: no BatchNormalization of the model "
                               "is in training mode");
      return signalPassFailure();
    }
    getOperation()->setAttr(kSyncBatchNormAttr, UnitAttr::get(&getContext()));
  }
};
} // namespace
