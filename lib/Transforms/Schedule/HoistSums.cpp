//===- HoistSums.cpp - sums along the axis tensor begin early -------------===//

#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Schedule/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_HOISTSUMS
#include "include/zero/Transforms/Schedule/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Moves `sum` and the reshapes in front of it behind the op that makes what it sums, if both run
/// in the same part of the step.
static void hoist(CollectiveOpInterface sum) {
  SmallVector<Operation *> chain{sum};
  Operation *producer = sum.getSource().getDefiningOp();
  for (; producer && isReshape(producer); producer = producer->getOperand(0).getDefiningOp())
    chain.push_back(producer);
  if (!producer || scheduleOf(producer) != scheduleOf(sum))
    return;
  for (Operation *op : llvm::reverse(chain)) {
    op->moveAfter(producer);
    producer = op;
  }
}

namespace {
struct HoistSums : zero::impl::HoistSumsBase<HoistSums> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    const Mesh mesh(getOperation());
    // The last first, so that sums of the results of one op keep their order.
    auto collectives = llvm::to_vector(step->getBody().getOps<CollectiveOpInterface>());
    for (CollectiveOpInterface op : llvm::reverse(collectives))
      if (isReduction(op.getCollectiveKind()) && mesh.exchangesActivations(op.getCollectiveGroup()))
        hoist(op);
  }
};
} // namespace
