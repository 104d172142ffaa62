//===- ConvertStableHlo.cpp - StableHLO to nodes ------------------------===//

#include "zero/Transforms/Program/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_CONVERTSTABLEHLO
#include "include/zero/Transforms/Program/Passes.h.inc"

namespace {
struct ConvertStableHlo : impl::ConvertStableHloBase<ConvertStableHlo> {
  void runOnOperation() override {}
};
} // namespace
} // namespace zero
