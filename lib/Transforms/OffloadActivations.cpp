//===- OffloadActivations.cpp - which saved activations leave the device --===//

#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/Storage.h"
#include "zero/Planning/ByteSize.h"
#include "zero/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_OFFLOADACTIVATIONS
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

using namespace zero;

/// The smallest values that together are so small a part of what is saved stay.
static constexpr int64_t kSmallPart = 100;

namespace {

/// A result of forward that backward reads, by positions in the step.
struct Saved {
  OpResult value;
  int64_t bytes = 0;
  int64_t lastInForward = 0; ///< that makes or reads it
  int64_t firstBehind = INT64_MAX;
  bool isFree = true; ///< nothing reads it after all micro-batches
};

/// What forward of a partitioned step saves, and how much is made while it waits.
class Saves {
public:
  explicit Saves(func::FuncOp step);

  /// All of them, in the order of the program.
  ArrayRef<Saved> all() const { return values; }
  /// Those that are worth moving.
  SmallVector<Saved> movable() const;

private:
  void findReaders(Value value, Saved &saved) const;
  bool makesRoom(const Saved &saved) const;

  llvm::DenseSet<Operation *> forward;
  llvm::DenseMap<Operation *, int64_t> positions;
  std::vector<int64_t> made; ///< bytes that launches before each position made
  SmallVector<Saved> values;
};

} // namespace

/// Whether `op` runs in each micro-batch, whatever the step's values are.
static bool runsAlways(Operation &op) {
  auto launch = dyn_cast<LaunchOp>(op);
  return launch && !launch.getCondition() && !op.hasAttr(kPrologueAttr) &&
         !op.hasAttr(kEpilogueAttr) && !op.hasAttr(kWhenAttr);
}

Saves::Saves(func::FuncOp step) : forward(findForwardOps(step)) {
  made.push_back(0);
  for (Operation &op : step.getBody().front()) {
    positions[&op] = positions.size();
    int64_t bytes = 0;
    if (isa<LaunchOp>(op))
      for (Type type : op.getResultTypes())
        bytes += tensorBytes(type);
    made.push_back(made.back() + bytes);
  }
  for (Operation &op : step.getBody().front()) {
    if (!forward.contains(&op) || !runsAlways(op))
      continue;
    for (OpResult result : op.getResults()) {
      Saved saved{result, tensorBytes(result.getType()), positions[&op]};
      findReaders(result, saved);
      if (saved.firstBehind != INT64_MAX)
        values.push_back(saved);
    }
  }
}

/// Adds who reads `value`, under any shape.
void Saves::findReaders(Value value, Saved &saved) const {
  for (Operation *user : value.getUsers()) {
    const int64_t position = positions.lookup(user);
    if (isReshape(user)) {
      findReaders(user->getResult(0), saved);
    } else if (forward.contains(user)) {
      saved.lastInForward = std::max(saved.lastInForward, position);
    } else {
      saved.firstBehind = std::min(saved.firstBehind, position);
      saved.isFree &= !user->hasAttr(kEpilogueAttr) && !user->hasTrait<OpTrait::IsTerminator>();
    }
  }
}

/// Whether launches make as many bytes while `saved` is away as it leaves.
bool Saves::makesRoom(const Saved &saved) const {
  return saved.isFree && saved.lastInForward < saved.firstBehind &&
         made[saved.firstBehind] - made[saved.lastInForward + 1] >= saved.bytes;
}

SmallVector<Saved> Saves::movable() const {
  int64_t small = 0, all = 0;
  for (const Saved &saved : values)
    all += saved.bytes;
  SmallVector<Saved> bySize(values), chosen;
  llvm::stable_sort(bySize, [](const Saved &a, const Saved &b) { return a.bytes < b.bytes; });
  for (const Saved &saved : bySize) {
    small += saved.bytes;
    if (small * kSmallPart > all && makesRoom(saved))
      chosen.push_back(saved);
  }
  return chosen;
}

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
    SmallVector<Saved> chosen = saves.movable();
    int64_t moved = 0, all = 0;
    for (const Saved &saved : saves.all())
      all += saved.bytes;
    for (const Saved &saved : chosen) {
      writeTier(saved.value, tier);
      moved += saved.bytes;
    }
    if (!quiet)
      remark::passed(step->getLoc(), remark::RemarkOpts::name("activations").category("offload"))
          << std::to_string(chosen.size()) + " of " + std::to_string(saves.all().size()) +
                 " values that forward saves wait on " + stringifyTier(tier).str() +
                 " for backward: "
          << remark::metric("bytes", moved)
          << " bytes of " + std::to_string(all) +
                 "; the others are small, or read again before their room is needed";
  }
};
} // namespace
