//===- DivideState.cpp - divide the state of buckets over tiers -----------===//

#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Part.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Planning/StateTiers.h"
#include "zero/Transforms/Place/Passes.h"
#include "zero/Transforms/Plan.h"
#include "zero/Transforms/StateHomes.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_DIVIDESTATE
#include "include/zero/Transforms/Place/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

/// Parameters or optimizer state of one bucket, which are on one tier.
struct Group {
  planning::BucketState state;
  SmallVector<Operation *> ops;
  llvm::StringSet<> homes; ///< members share the buffers of their states
};

/// The groups of one kind, by bucket.
class Groups {
public:
  Groups(ModuleOp module, ArrayRef<int64_t> elements)
      : mesh(module), elements(elements), groups(elements.size()) {}

  /// Adds `op`, of which a bucket has `units` for each of its elements.
  void add(Operation *op, FlatSymbolRefAttr home, PlacementAttr placement, RankedTensorType type,
           int64_t unit) {
    size_t bucket;
    StringRef name = home ? home.getValue() : "";
    if (!placement || !name.consume_front("bucket") || name.consumeInteger(10, bucket))
      return;
    Group &group = groups[bucket];
    group.ops.push_back(op);
    group.state.farthest = unsigned(placement.getTier());
    if (group.homes.insert(home.getValue()).second)
      group.state.bytes += elements[bucket] / unit * elementBytes(type) / mesh.shardsOf(placement);
  }

  void appendTo(SmallVectorImpl<Group *> &all) {
    for (Group &group : groups)
      all.push_back(&group);
  }

private:
  Mesh mesh;
  ArrayRef<int64_t> elements;
  std::vector<Group> groups;
};

struct DivideState : zero::impl::DivideStateBase<DivideState> {
  using DivideStateBase::DivideStateBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const PlanAttr plan = planOf(module);
    // The program for another shape of the inputs took over the tiers together with the homes.
    if (!plan || module->hasAttr(kStateHomesAttr))
      return;
    const NearerStateAttr nearer = plan.getNearer();
    std::vector<int64_t> room{int64_t(nearer.getDevice()), int64_t(nearer.getHost())};
    if (room[0] == 0 && room[1] == 0)
      return;
    auto elements = module->getAttrOfType<DenseI64ArrayAttr>(kBucketsAttr);
    if (!elements) {
      module.emitError() << "expected " << kBucketsAttr << "; run zero-assign-buckets first";
      return signalPassFailure();
    }
    const SymbolTable symbols(module);
    Groups parameters(module, elements.asArrayRef()), states(module, elements.asArrayRef());
    for (auto parameter : module.getOps<ParameterOp>())
      parameters.add(parameter, parameter.getHomeAttr(), parameter.getPlacementAttr(),
                     parameter.getTensorType(), /*unit=*/1);
    for (auto state : module.getOps<StateOp>())
      if (state.getOfAttr() && !state->hasAttr(kWholeAttr))
        states.add(state, state.getHomeAttr(), state.getPlacementAttr(), state.getTensorType(),
                   unitOf(state, symbols.lookup<ParameterOp>(*state.getOf())));
    SmallVector<Group *> groups;
    const StateOrder order = nearer.getOrder();
    if (order == StateOrder::ParamsOptimizer || order == StateOrder::Params)
      parameters.appendTo(groups);
    if (order != StateOrder::Params)
      states.appendTo(groups);
    if (order == StateOrder::OptimizerParams)
      parameters.appendTo(groups);
    std::vector<int64_t> left = room;
    divide(groups, left);
    module->setAttr(kPlanAttr,
                    plan.withNearer(NearerStateAttr::get(&getContext(), uint64_t(room[0] - left[0]),
                                                         uint64_t(room[1] - left[1]), order)));
  }

  static void divide(ArrayRef<Group *> groups, std::vector<int64_t> &room) {
    std::vector<planning::BucketState> given;
    for (const Group *group : groups)
      given.push_back(group->state);
    for (auto [group, tier] : llvm::zip_equal(groups, planning::divideState(given, room)))
      for (Operation *op : group->ops) {
        auto placement = op->getAttrOfType<PlacementAttr>("placement");
        op->setAttr("placement",
                    PlacementAttr::get(op->getContext(), placement.getShard(), Tier(tier)));
      }
  }
};

} // namespace
