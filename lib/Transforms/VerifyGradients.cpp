//===- VerifyGradients.cpp - one gradient for each trained parameter -----------===//

#include "OnePerParameter.h"

namespace zero {
#define GEN_PASS_DEF_VERIFYGRADIENTS
#include "include/zero/Transforms/Passes.h.inc"

namespace {
struct VerifyGradients : impl::VerifyGradientsBase<VerifyGradients> {
  void runOnOperation() override {
    if (failed(verifyOnePerParameter<GradientOp>(getOperation(), "gradient")))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
