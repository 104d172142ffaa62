//===- LocalLossMean.cpp - average the loss on each rank ------------------===//

#include "zero/Transforms/Recognise/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_LOCALLOSSMEAN
#include "include/zero/Transforms/Recognise/Passes.h.inc"
} // namespace zero

namespace {
struct LocalLossMean : zero::impl::LocalLossMeanBase<LocalLossMean> {
  void runOnOperation() override {
    getOperation()->setAttr(zero::kLocalLossMeanAttr, UnitAttr::get(&getContext()));
  }
};
} // namespace
