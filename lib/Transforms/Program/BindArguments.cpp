//===- BindArguments.cpp - a function as a step -------------------------===//

#include "zero/Transforms/Program/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_BINDARGUMENTS
#include "include/zero/Transforms/Program/Passes.h.inc"

namespace {
struct BindArguments : impl::BindArgumentsBase<BindArguments> {
  void runOnOperation() override {}
};
} // namespace
} // namespace zero
