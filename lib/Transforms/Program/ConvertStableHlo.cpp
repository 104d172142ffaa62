//===- ConvertStableHlo.cpp - StableHLO to nodes --------------------------===//
//
// The rules are in lib/Programs/StableHlo, one file for each family of ops.
//
//===----------------------------------------------------------------------===//

#include "dialects/StableHlo/StableHlo.h"
#include "zero/Programs/StableHlo/Convert.h"
#include "zero/Transforms/Program/Passes.h"

#include "mlir/IR/Remarks.h"

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
    unsigned numConstraints = 0;
    module.walk([&](sdy::ShardingConstraintOp) { ++numConstraints; });
    for (auto function : module.getOps<func::FuncOp>())
      if (hasWork(function) && failed(hlo::convertFunction(function)))
        return signalPassFailure();
    if (numConstraints > 0)
      remark::passed(module.getLoc(), remark::RemarkOpts::name("constraints").category("import"))
          << "constraints on the sharding of intermediate values (" +
                 std::to_string(numConstraints) + ") are ignored: they change no value";
  }
};
} // namespace
} // namespace zero
