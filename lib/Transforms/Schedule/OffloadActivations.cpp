//===- OffloadActivations.cpp - choose activations to offload -------------===//

#include "SavedActivations.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Plan.h"
#include "zero/Transforms/Schedule/Passes.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_OFFLOADACTIVATIONS
#include "include/zero/Transforms/Schedule/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Lets `value` wait on `tier`.
static void writeTier(OpResult value, Tier tier) {
  Operation *op = value.getOwner();
  MLIRContext *context = op->getContext();
  auto given = op->getAttrOfType<ArrayAttr>(kTierAttr);
  SmallVector<Attribute> tiers(op->getNumResults(), TierAttr::get(context, Tier::Device));
  if (given)
    tiers.assign(given.begin(), given.end());
  tiers[value.getResultNumber()] = TierAttr::get(context, tier);
  op->setAttr(kTierAttr, ArrayAttr::get(context, tiers));
}

namespace {
struct OffloadActivations : zero::impl::OffloadActivationsBase<OffloadActivations> {
  using OffloadActivationsBase::OffloadActivationsBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    Saves saves(*step);
    SmallVector<Saved> values = saves.movable();
    Moved moved;
    if (tier != Tier::Device) {
      moved = move(values, tier, INT64_MAX);
    } else if (PlanAttr plan = planOf(getOperation())) {
      // The first values are away longest, so the slowest link moves them.
      moved = move(values, Tier::Nvme, int64_t(plan.getActivationsNvme()));
      Moved host = move(values, Tier::Host, int64_t(plan.getActivationsHost()));
      moved.text += (moved.text.empty() || host.text.empty() ? "" : ", ") + host.text;
      moved.values += host.values;
    }
    if (!quiet)
      report(*step, saves, moved);
  }

  /// A description of the moved values.
  struct Moved {
    size_t values = 0;
    std::string text;
  };
  static Moved move(SmallVectorImpl<Saved> &values, Tier tier, int64_t limit);
  static void report(func::FuncOp step, const Saves &saves, const Moved &moved);
};
} // namespace

/// Lets of `values` those wait on `tier` that fit into `limit` bytes, and takes them from the list.
OffloadActivations::Moved OffloadActivations::move(SmallVectorImpl<Saved> &values, Tier tier,
                                                   int64_t limit) {
  int64_t bytes = 0;
  const size_t count = values.size();
  llvm::erase_if(values, [&](const Saved &saved) {
    if (saved.bytes > limit - bytes)
      return false;
    bytes += saved.bytes;
    writeTier(saved.value, tier);
    return true;
  });
  if (!bytes)
    return {};
  return {count - values.size(), std::to_string(bytes) + " bytes on " + stringifyTier(tier).str()};
}

void OffloadActivations::report(func::FuncOp step, const Saves &saves, const Moved &moved) {
  remark::passed(step->getLoc(), remark::RemarkOpts::name("activations").category("offload"))
      << std::to_string(moved.values) + " of " + std::to_string(saves.all().size()) +
             " values that forward saves are offloaded until backward: " +
             (moved.values ? moved.text : "nothing") + ", of " + std::to_string(saves.bytes()) +
             "; the others are small, are read before their memory is needed, or fit";
}
