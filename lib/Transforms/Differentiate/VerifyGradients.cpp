//===- VerifyGradients.cpp - one gradient for each trained parameter -----------===//

#include "zero/Transforms/OnePerParameter.h"

namespace zero {
#define GEN_PASS_DEF_VERIFYGRADIENTS
#include "include/zero/Transforms/Differentiate/Passes.h.inc"

namespace {
struct VerifyGradients : impl::VerifyGradientsBase<VerifyGradients> {
  void runOnOperation() override {
    if (failed(verifyOnePerParameter<GradientOp>(getOperation(), "gradient")))
      signalPassFailure();
  }
};
} // namespace
} // namespace zero
