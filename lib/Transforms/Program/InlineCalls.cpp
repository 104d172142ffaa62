//===- InlineCalls.cpp - inline calls into the program ------------------===//

#include "zero/Transforms/Program/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_INLINECALLS
#include "include/zero/Transforms/Program/Passes.h.inc"

namespace {
struct InlineCalls : impl::InlineCallsBase<InlineCalls> {
  void runOnOperation() override {}
};
} // namespace
} // namespace zero
