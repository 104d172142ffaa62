//===- PackRecurrentWeights.cpp - reorder weights of recurrent layers -----===//

#include "ScheduleLike.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Ops/Recurrent.h"
#include "zero/Transforms/Shape/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_PACKRECURRENTWEIGHTS
#include "include/zero/Transforms/Shape/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
struct PackRecurrentWeights : zero::impl::PackRecurrentWeightsBase<PackRecurrentWeights> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    for (auto node : llvm::make_early_inc_range(step->getBody().getOps<onnx::NodeOp>())) {
      if (!isRecurrent(node))
        continue;
      Operation *before = node->getPrevNode();
      packRecurrentWeights(node);
      scheduleLike(node, before);
    }
  }
};
} // namespace
