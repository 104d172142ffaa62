//===- OffloadActivations.cpp - choose activations to offload -------------===//

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/Layers.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Plan.h"
#include "zero/Transforms/Schedule/Passes.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_OFFLOADACTIVATIONS
#include "include/zero/Transforms/Schedule/Passes.h.inc"
} // namespace zero

using namespace zero;

/// The smallest values remain on the device if together they are at most this fraction of the saved
/// bytes.
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

/// The values that forward of a partitioned step saves, and the work during which each waits.
class Saves {
public:
  explicit Saves(func::FuncOp step);

  /// All of them, in the order of the program.
  ArrayRef<Saved> all() const { return values; }
  /// Bytes of them.
  int64_t bytes() const;
  /// The values that are moved, in this order.
  SmallVector<Saved> movable() const;

private:
  int64_t leastMoved() const;
  void findReaders(Value value, Saved &saved) const;
  bool makesRoom(const Saved &saved) const;

  llvm::DenseSet<Operation *> forward;
  llvm::DenseMap<Operation *, int64_t> positions;
  std::vector<int64_t> made; ///< bytes that launches before each position made
  SmallVector<Saved> values;
};

} // namespace

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
    if (!forward.contains(&op) || !runsAlways(&op))
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
    } else if (user->hasTrait<OpTrait::IsTerminator>()) {
      saved.isFree = false;
    } else {
      saved.firstBehind = std::min(saved.firstBehind, position);
      saved.isFree &= !isIn(user, Segment::Epilogue);
    }
  }
}

int64_t Saves::bytes() const {
  int64_t sum = 0;
  for (const Saved &saved : values)
    sum += saved.bytes;
  return sum;
}

/// Whether launches make as many bytes while `saved` is away as it leaves.
bool Saves::makesRoom(const Saved &saved) const {
  return saved.isFree && saved.lastInForward < saved.firstBehind &&
         made[saved.firstBehind] - made[saved.lastInForward + 1] >= saved.bytes;
}

/// Bytes from which on a value is not among the smallest.
int64_t Saves::leastMoved() const {
  SmallVector<int64_t> sizes;
  for (const Saved &saved : values)
    sizes.push_back(saved.bytes);
  llvm::sort(sizes);
  int64_t small = 0;
  for (int64_t size : sizes) {
    small += size;
    if (small * kSmallPart > bytes())
      return size;
  }
  return 0;
}

SmallVector<Saved> Saves::movable() const {
  SmallVector<Saved> chosen;
  const int64_t least = leastMoved();
  llvm::copy_if(values, std::back_inserter(chosen),
                [&](const Saved &saved) { return saved.bytes >= least && makesRoom(saved); });
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
