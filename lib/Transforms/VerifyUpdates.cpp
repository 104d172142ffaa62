//===- VerifyUpdates.cpp - one update for each trained parameter -----------===//

#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Passes.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_VERIFYUPDATES
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
struct VerifyUpdates : zero::impl::VerifyUpdatesBase<VerifyUpdates> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    llvm::DenseMap<StringAttr, unsigned> found;
    for (auto op : step->getBody().getOps<UpdateOp>())
      ++found[op.getParameterAttr().getAttr()];
    for (auto parameter : getOperation().getOps<ParameterOp>()) {
      unsigned expected = parameter.getFrozen() ? 0 : 1;
      unsigned count = found.lookup(parameter.getSymNameAttr());
      if (count == expected)
        continue;
      parameter.emitError() << "expected " << expected << " update of parameter '"
                            << parameter.getSymName() << "', got " << count;
      signalPassFailure();
    }
  }
};
} // namespace
