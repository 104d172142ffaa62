//===- PlaceActivations.cpp - choose saved activations --------------------===//

#include "dialects/Zero/Mesh.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Planning/ByteSize.h"
#include "zero/Planning/Chain.h"
#include "zero/Transforms/Place/ActivationPlan.h"
#include "zero/Transforms/Place/Passes.h"

#include "mlir/IR/Remarks.h"

#include <set>

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_PLACEACTIVATIONS
#include "include/zero/Transforms/Place/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Keeps the values that cross one of the `cuts` between layers, and all values that backward reads
/// of layers from `wholeFrom` on.
static void keepCrossing(const Layers &layers, const std::set<int64_t> &cuts, int64_t wholeFrom,
                         ActivationPlan &plan) {
  for (const LayerValue &value : layers.values()) {
    auto cut = cuts.upper_bound(value.layer);
    bool crosses = cut != cuts.end() && *cut <= value.lastLayer;
    plan.kept.push_back(crosses || (value.isSaved && value.layer >= wholeFrom));
  }
}

/// Recomputes each segment as a unit.
ActivationPlan zero::keepSegments(MLIRContext *context, const Layers &layers) {
  std::vector<planning::ChainLayer> chain(layers.count());
  for (const LayerValue &value : layers.values())
    if (value.crosses())
      chain[value.layer].output += value.bytes;
    else if (value.isSaved && !value.isPinned)
      chain[value.layer].inner += value.bytes;
  std::vector<int64_t> begins = planning::sublinearSegments(chain);
  std::set<int64_t> cuts(begins.begin(), begins.end());
  cuts.insert(layers.count());
  ActivationPlan plan;
  keepCrossing(layers, cuts, layers.count(), plan);
  for (int64_t begin : begins)
    plan.runs.push_back(RunAttr::get(context, begin, *cuts.upper_bound(begin) - 1, {}));
  return plan;
}

/// Keeps at most `slots` checkpoints at a time; their states are stored again on the way back.
ActivationPlan zero::keepSlots(MLIRContext *context, const Layers &layers, int64_t slots) {
  using Kind = planning::ChainAction::Kind;
  const int64_t last = layers.count() - 1;
  std::set<int64_t> cuts{last, last + 1};
  ActivationPlan plan;
  SmallVector<int64_t> advances;
  bool isForward = true; // of the step itself, until the last layer
  for (const planning::ChainAction &action : planning::revolve(layers.count(), slots)) {
    if (action.kind == Kind::Tape) {
      plan.runs.push_back(RunAttr::get(context, action.from, action.from, advances));
      advances.clear();
      isForward = false;
    } else if (isForward && action.kind == Kind::Store) {
      cuts.insert(action.from);
    } else if (!isForward && action.kind == Kind::Advance) {
      advances.append({action.from, action.to - 1});
    }
  }
  keepCrossing(layers, cuts, last, plan);
  return plan;
}

namespace {
struct PlaceActivations : zero::impl::PlaceActivationsBase<PlaceActivations> {
  using PlaceActivationsBase::PlaceActivationsBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (partition && !getOperation()->hasAttr(kMeshAttr)) {
      getOperation().emitError() << "--partition-activations: no replicated axis: ranks are data "
                                    "parallel, so no two of them hold the same activation; "
                                    "--mesh=...,tensor=N adds one";
      return signalPassFailure();
    }
    if (failed(step) || (mode == Checkpoint::None && slots == 0))
      return failed(step) ? signalPassFailure() : void();
    Layers layers(getOperation(), *step);
    std::string flag = slots ? "--checkpoint-slots=" + std::to_string(slots)
                             : "--checkpoint=" + wordOf(mode.getValue()).str();
    if (layers.count() == 0) {
      getOperation().emitError() << flag
                                 << " has no effect: no layers are found, because no single "
                                 << "value connects one part of forward to the next";
      return signalPassFailure();
    }
    MLIRContext *context = &getContext();
    ActivationPlan plan = slots                      ? keepSlots(context, layers, slots)
                          : mode == Checkpoint::Sqrt ? keepSegments(context, layers)
                                                     : keepLayerOutputs(context, layers);
    int64_t all = keptBytes(layers), kept = keptBytes(layers, &plan);
    if (kept >= all) {
      getOperation().emitError() << flag << " has no effect: the " << layers.count()
                                 << " layers save " << planning::formatBytes(all)
                                 << " for backward, and checkpoints would take "
                                 << planning::formatBytes(kept);
      return signalPassFailure();
    }
    writeActivationPlan(*step, layers, plan);
    std::string period =
        layers.period() ? ", " + std::to_string(layers.period()) + " launches each" : "";
    remark::passed(step->getLoc(), remark::RemarkOpts::name("kept").category("activations"))
        << std::to_string(layers.count()) + " layers" + period + ", in " +
               std::to_string(plan.runs.size()) + " runs: " + planning::formatBytes(kept) +
               " are saved for backward instead of " + planning::formatBytes(all);
  }
};
} // namespace
