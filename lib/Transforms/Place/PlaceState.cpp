//===- PlaceState.cpp - place state on ranks and tiers --------------------===//

#include "dialects/Zero/Mesh.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Place/Passes.h"
#include "zero/Transforms/Plan.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_PLACESTATE
#include "include/zero/Transforms/Place/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {
struct PlaceState : zero::impl::PlaceStateBase<PlaceState> {
  using PlaceStateBase::PlaceStateBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const PlanAttr plan = planOf(module);
    const uint64_t stage = plan ? plan.getStage() : this->stage;
    const uint64_t ranks = plan ? plan.getRanks() : this->ranks;
    const uint64_t persistUnder = plan ? plan.getPersistUnder() : this->persistUnder;
    if (stage > 3) {
      module.emitError() << "expected a ZeRO stage from 0 to 3, got " << stage;
      return signalPassFailure();
    }
    if (ranks == 0) {
      module.emitError("expected at least one rank, got 0");
      return signalPassFailure();
    }
    if (module->hasAttr(kMeshAttr) && Mesh(module).dataRanks() != int64_t(ranks)) {
      module.emitError() << "expected " << Mesh(module).dataRanks()
                         << " data-parallel ranks, as the mesh says, got " << ranks;
      return signalPassFailure();
    }
    const uint64_t all = ranks * Mesh(module).ranks() / Mesh(module).dataRanks();
    if (ranksPerNode > 0 && all % ranksPerNode != 0) {
      module.emitError() << "expected a divisor of " << all << " ranks as the ranks of a node, got "
                         << ranksPerNode.getValue();
      return signalPassFailure();
    }
    const Tier params = plan ? plan.getParams() : this->params;
    const Tier optimizer = plan ? plan.getOptimizer() : this->optimizer;
    MLIRContext *context = &getContext();
    if (params != Tier::Device && stage < 3) {
      module.emitError() << "expected stage 3 for parameters on " << stringifyTier(params)
                         << ": offloaded parameters are sharded over ranks; got stage " << stage;
      return signalPassFailure();
    }
    auto place = [&](bool sharded, Tier tier) {
      SmallVector<FlatSymbolRefAttr> axes;
      if (sharded)
        axes.push_back(FlatSymbolRefAttr::get(context, kDataAxis));
      return PlacementAttr::get(context, axes, tier);
    };
    for (Operation &op : *module.getBody()) {
      if (auto parameter = dyn_cast<ParameterOp>(op)) {
        bool persists = uint64_t(tensorBytes(parameter.getTensorType())) < persistUnder;
        parameter.setPlacementAttr(
            place(stage >= 3 && !persists, persists ? Tier::Device : params));
        if (!parameter.getFrozen())
          parameter.setGradientAttr(place(stage >= 2, gradients));
      } else if (auto state = dyn_cast<StateOp>(op)) {
        state.setPlacementAttr(
            place(stage >= 1 && state.getOf(), state.getOf() ? optimizer : Tier::Device));
      }
    }
    Builder builder(context);
    module->setAttr(kRanksAttr, builder.getI64IntegerAttr(ranks));
    if (ranksPerNode > 0)
      module->setAttr(kRanksPerNodeAttr, builder.getI64IntegerAttr(ranksPerNode));
    module->setAttr(kStageAttr, builder.getI64IntegerAttr(stage));
    if ((plan ? plan.getInterleave() : this->interleave) && microBatchesOf(module) > 1)
      module->setAttr(kInterleaveAttr, builder.getUnitAttr());
  }
};
} // namespace
