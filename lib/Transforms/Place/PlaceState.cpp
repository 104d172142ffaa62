//===- PlaceState.cpp - place state on ranks and tiers --------------------===//

#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/UpdateAttrs.h"
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

  /// What a planner has chosen, or what the options say.
  struct Choice {
    uint64_t stage, ranks, persistUnder;
    Tier params, gradients, optimizer;
    /// Data-parallel ranks of a node over which a planner shards parameters, or 0.
    uint64_t nodeRanks;
    bool interleave;
  };

  Choice choose() {
    if (PlanAttr plan = planOf(getOperation()))
      return {plan.getStage(),     plan.getRanks(),     plan.getPersistUnder(),
              plan.getParams(),    plan.getGradients(), plan.getOptimizer(),
              plan.getNodeRanks(), plan.getInterleave()};
    return {stage, ranks, persistUnder, params, gradients, optimizer, 0, interleave};
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Choice choice = choose();
    if (failed(checkRanks(choice)) || failed(checkTiers(choice)) || failed(cutNodes(choice)))
      return signalPassFailure();
    placeState(choice);
    Builder builder(module.getContext());
    module->setAttr(kRanksAttr, builder.getI64IntegerAttr(choice.ranks));
    if (ranksPerNode > 0)
      module->setAttr(kRanksPerNodeAttr, builder.getI64IntegerAttr(ranksPerNode));
    module->setAttr(kStageAttr, builder.getI64IntegerAttr(choice.stage));
    if (choice.interleave && microBatchesOf(module) > 1)
      module->setAttr(kInterleaveAttr, builder.getUnitAttr());
  }

  LogicalResult checkRanks(const Choice &choice) {
    ModuleOp module = getOperation();
    const Mesh mesh(module);
    if (choice.stage > 3)
      return module.emitError() << "expected a ZeRO stage from 0 to 3, got " << choice.stage;
    if (choice.ranks == 0)
      return module.emitError("expected at least one rank, got 0");
    if (module->hasAttr(kMeshAttr) && mesh.dataRanks() != int64_t(choice.ranks))
      return module.emitError() << "expected " << mesh.dataRanks()
                                << " data-parallel ranks, as the mesh says, got " << choice.ranks;
    const uint64_t all = choice.ranks * mesh.tensorRanks();
    if (ranksPerNode > 0 && all % ranksPerNode != 0)
      return module.emitError() << "expected a divisor of " << all
                                << " ranks as the ranks of a node, got " << ranksPerNode.getValue();
    return success();
  }

  LogicalResult checkTiers(const Choice &choice) {
    if (choice.params == Tier::Device || choice.stage == 3)
      return success();
    return getOperation().emitError()
           << "expected stage 3 for parameters on " << stringifyTier(choice.params)
           << ": offloaded parameters are sharded over ranks; got stage " << choice.stage;
  }

  /// Divides the mesh into nodes, if a planner or the options want that. Parameters are sharded
  /// within them on the device, over the ranks along `data`; a node has all ranks along `tensor`.
  LogicalResult cutNodes(const Choice &choice) {
    ModuleOp module = getOperation();
    const uint64_t tensorRanks = Mesh(module).tensorRanks();
    if (choice.nodeRanks)
      cutIntoNodes(module, int64_t(choice.ranks), int64_t(choice.nodeRanks));
    if (shardParams != ShardParams::Node || Mesh(module).hasNodes())
      return success();
    if (choice.stage < 3)
      return module.emitError() << "expected stage 3 to shard parameters within nodes, got stage "
                                << choice.stage << ", at which each rank has all of them";
    if (ranksPerNode == 0)
      return module.emitError(
          "expected the number of ranks of a node to shard parameters within nodes, got 0");
    if (ranksPerNode % tensorRanks != 0)
      return module.emitError() << "expected nodes of all " << tensorRanks
                                << " ranks along tensor, or a multiple, to shard parameters within "
                                   "nodes, got "
                                << ranksPerNode.getValue();
    if (Mesh(module).contextRanks() > 1)
      return module.emitError("expected no axis 'context' to shard parameters within nodes; leave "
                              "out one of the two");
    if (choice.params != Tier::Device)
      return module.emitError()
             << "expected parameters on the device to shard them within nodes, got "
             << stringifyTier(choice.params);
    cutIntoNodes(module, int64_t(choice.ranks), int64_t(ranksPerNode / tensorRanks));
    return success();
  }

  void placeState(const Choice &choice) {
    MLIRContext *context = &getContext();
    auto axes = [&](ArrayRef<StringRef> names) {
      return llvm::map_to_vector(
          names, [&](StringRef name) { return FlatSymbolRefAttr::get(context, name); });
    };
    const bool hasNodes = Mesh(getOperation()).hasNodes();
    const auto all = hasNodes                                  ? axes({kLocalAxis, kNodeAxis})
                     : Mesh(getOperation()).contextRanks() > 1 ? axes({kDataAxis, kContextAxis})
                                                               : axes({kDataAxis});
    const auto ofParameters = hasNodes ? axes({kLocalAxis}) : all;
    auto place = [&](bool sharded, ArrayRef<FlatSymbolRefAttr> over, Tier tier) {
      return PlacementAttr::get(context, sharded ? over : ArrayRef<FlatSymbolRefAttr>(), tier);
    };
    for (Operation &op : *getOperation().getBody()) {
      if (auto parameter = dyn_cast<ParameterOp>(op)) {
        bool persists = uint64_t(tensorBytes(parameter.getTensorType())) < choice.persistUnder;
        parameter.setPlacementAttr(place(choice.stage >= 3 && !persists, ofParameters,
                                         persists ? Tier::Device : choice.params));
        if (!parameter.getFrozen())
          parameter.setGradientAttr(place(choice.stage >= 2, all, choice.gradients));
      } else if (auto state = dyn_cast<StateOp>(op)) {
        // Without owners, which one rank does not need, each rank has all of a whole state.
        const bool isOfRanks = state.getOf() && (!state->hasAttr(kWholeAttr) ||
                                                 (choice.stage >= 1 && choice.ranks > 1));
        state.setPlacementAttr(place(choice.stage >= 1 && isOfRanks, all,
                                     isOfRanks ? choice.optimizer : Tier::Device));
      }
    }
  }
};
} // namespace
