//===- PlanShards.cpp - choose which parameters are sharded ---------------===//

#include "MeshStep.h"
#include "ShardPlan.h"
#include "dialects/Zero/ExporterAttrs.h"
#include "dialects/Zero/Mesh.h"
#include "zero/Transforms/Shard/Passes.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_PLANSHARDS
#include "include/zero/Transforms/Shard/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
struct PlanShards : zero::impl::PlanShardsBase<PlanShards> {
  using PlanShardsBase::PlanShardsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findDividedStep(module, mesh, kTensorAxis, "shard it");
    if (failed(step))
      return signalPassFailure();
    if (!*step)
      return;
    ShardPlan shards(module, *step, Mesh(module).tensorRanks());
    if (failed(choose(shards)))
      return signalPassFailure();
    shards.write();
    for (auto parameter : module.getOps<ParameterOp>())
      parameter->removeAttr(kShardedDimAttr);
  }

  LogicalResult choose(ShardPlan &shards) {
    if (plan != "auto")
      return readFile(shards);
    if (llvm::any_of(getOperation().getOps<ParameterOp>(),
                     [](ParameterOp parameter) { return parameter->hasAttr(kShardedDimAttr); }))
      return shards.readProgram();
    shards.choose();
    return success();
  }

  LogicalResult readFile(ShardPlan &shards) {
    auto file = llvm::MemoryBuffer::getFile(plan, /*IsText=*/true);
    if (!file)
      return getOperation().emitError()
             << "cannot read --tensor-plan=" << plan << ": " << file.getError().message();
    return shards.read((*file)->getBuffer());
  }
};
} // namespace
