//===- ConvertStableHlo.cpp - StableHLO to nodes --------------------------===//
//
// The rules are in lib/StableHlo, one file for each family of ops.
//
//===----------------------------------------------------------------------===//

#include "dialects/StableHlo/StableHlo.h"
#include "zero/StableHlo/Convert.h"
#include "zero/Transforms/Program/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_CONVERTSTABLEHLO
#include "include/zero/Transforms/Program/Passes.h.inc"

static bool isConverted(Operation *op) {
  return isa_and_nonnull<stablehlo::StableHloDialect, chlo::ChloDialect, sdy::SdyDialect>(
      op->getDialect());
}

/// Whether `function` has an op to convert, in its own block.
static bool hasWork(func::FuncOp function) {
  return llvm::any_of(function.getBody().getOps(), [](Operation &op) { return isConverted(&op); });
}

namespace {
struct ConvertStableHlo : impl::ConvertStableHloBase<ConvertStableHlo> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>())
      if (hasWork(function) && failed(hlo::convertFunction(function)))
        return signalPassFailure();
    // Names of devices, to which only annotations refer.
    for (auto mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
      mesh.erase();
  }
};
} // namespace
} // namespace zero
