//===- VerifyUpdates.cpp - one update for each trained parameter -----------===//

#include "OnePerParameter.h"

namespace zero {
#define GEN_PASS_DEF_VERIFYUPDATES
#include "include/zero/Transforms/Passes.h.inc"

namespace {
struct VerifyUpdates : impl::VerifyUpdatesBase<VerifyUpdates> {
  void runOnOperation() override {
    if (failed(verifyOnePerParameter<UpdateOp>(getOperation(), "update")))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
