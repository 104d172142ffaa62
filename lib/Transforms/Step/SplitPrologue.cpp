//===- SplitPrologue.cpp - clone dependences into the prologue ------------===//

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Step/Passes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SPLITPROLOGUE
#include "include/zero/Transforms/Step/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Whether anything but the step's results needs `value`, or its mean over ranks.
static bool isNeededInside(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (auto mean = dyn_cast<RankMeanOp>(user))
      return isNeededInside(mean.getResult());
    return !user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// Computes `last` in the prologue instead.
static void moveToPrologue(func::FuncOp step, ArrayRef<Operation *> last) {
  llvm::DenseSet<Operation *> sources = findSources(last);
  Block &block = step.getBody().front();
  SmallVector<Operation *> inOrder;
  for (Operation &op : block)
    if (sources.contains(&op))
      inOrder.push_back(&op);
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  IRMapping mapping;
  for (Operation *op : inOrder) {
    Operation *copy = builder.clone(*op, mapping);
    // Constants and reads are there for all.
    if (!op->hasTrait<OpTrait::ConstantLike>() && !isa<ReadOp>(op))
      setSegment(copy, Segment::Prologue);
  }
  for (Operation *op : last)
    op->getResult(0).replaceAllUsesWith(mapping.lookup(op->getResult(0)));
}

namespace {
struct SplitPrologue : zero::impl::SplitPrologueBase<SplitPrologue> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    if (microBatchesOf(module) == 1)
      return;
    SmallVector<Operation *> moved;
    for (auto mean : step->getBody().getOps<MicroMeanOp>()) {
      if (!isNeededInside(mean.getResult()))
        continue;
      moved.push_back(mean);
      for (Operation *user : mean->getUsers())
        if (isa<RankMeanOp>(user))
          moved.push_back(user);
    }
    if (!moved.empty())
      moveToPrologue(*step, moved);
  }
};
} // namespace
