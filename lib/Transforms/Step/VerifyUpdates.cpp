//===- VerifyUpdates.cpp - verify one update per parameter ----------------===//

#include "zero/Transforms/OnePerParameter.h"

namespace zero {
#define GEN_PASS_DEF_VERIFYUPDATES
#include "include/zero/Transforms/Step/Passes.h.inc"

namespace {
struct VerifyUpdates : impl::VerifyUpdatesBase<VerifyUpdates> {
  void runOnOperation() override {
    if (failed(verifyOnePerParameter<UpdateOp>(getOperation(), "update")))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
