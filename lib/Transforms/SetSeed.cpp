//===- SetSeed.cpp - the seed of the program's random numbers -------------===//

#include "dialects/Onnx/Onnx.h"
#include "dialects/Zero/Zero.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SETSEED
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

namespace {
struct SetSeed : zero::impl::SetSeedBase<SetSeed> {
  using SetSeedBase::SetSeedBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    WalkResult found = module.walk([](zero::onnx::NodeOp node) {
      return node.getOpType() == "Dropout" ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (seed != 0 && !found.wasInterrupted()) {
      emitError(module.getLoc()) << "--seed=" << uint64_t(seed)
                                 << " has no effect: the model draws no random numbers";
      return signalPassFailure();
    }
    module->setAttr(zero::kSeedAttr, Builder(module.getContext()).getI64IntegerAttr(int64_t(seed)));
  }
};
} // namespace
