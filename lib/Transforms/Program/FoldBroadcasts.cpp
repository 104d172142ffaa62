//===- FoldBroadcasts.cpp - fold broadcasts into elementwise nodes ------===//

#include "zero/Transforms/Program/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_FOLDBROADCASTS
#include "include/zero/Transforms/Program/Passes.h.inc"

namespace {
struct FoldBroadcasts : impl::FoldBroadcastsBase<FoldBroadcasts> {
  void runOnOperation() override {}
};
} // namespace
} // namespace zero
