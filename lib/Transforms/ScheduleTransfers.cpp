//===- ScheduleTransfers.cpp - when transfers begin -----------------------===//

#include "zero/Transforms/ScheduleTransfers.h"

#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepTime.h"
#include "zero/Analysis/Storage.h"
#include "zero/Planning/Prefetch.h"
#include "zero/Transforms/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SCHEDULETRANSFERS
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

using namespace zero;
using planning::Link;

namespace {

/// The part of the step that an op belongs to; transfers stay in theirs.
enum class Part { Prologue, MicroBatch, Epilogue };

/// A transfer that may begin earlier, or end later, than where it stands.
struct Candidate {
  TransferOp transfer;
  planning::Fetch fetch;
};

/// Finds places for the transfers over one pair of tiers at a time and reorders the step once
/// for each: first those next to the device, as what the others are for depends on them.
class Scheduler {
public:
  Scheduler(ModuleOp module, func::FuncOp step, const planning::Machine &machine,
            TierBudgets budgets)
      : module(module), step(step), times(module, machine), budgets(budgets) {}

  void run() {
    place(Link::HostToDevice, Tier::Device);
    place(Link::DeviceToHost, Tier::Device);
    place(Link::DiskRead, Tier::Host);
    place(Link::DiskWrite, Tier::Host);
  }

private:
  void number();
  void place(Link link, Tier tier);
  planning::Timeline timelineOf(Tier tier) const;
  int64_t budgetOf(Tier tier, ArrayRef<int64_t> live) const;
  std::optional<planning::Fetch> fetchOf(TransferOp transfer) const;
  std::optional<planning::Fetch> drainOf(TransferOp transfer) const;
  int64_t firstReader(Value value) const;
  void reorder(const llvm::DenseMap<Operation *, int64_t> &begins, bool behind);

  ModuleOp module;
  func::FuncOp step;
  OpTimes times;
  TierBudgets budgets;
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, int64_t> positions;
  std::array<std::pair<int64_t, int64_t>, 3> parts; ///< first op of each part and its end
};

} // namespace

static Part partOf(Operation *op) {
  return op->hasAttr(kPrologueAttr)   ? Part::Prologue
         : op->hasAttr(kEpilogueAttr) ? Part::Epilogue
                                      : Part::MicroBatch;
}

/// Views and what never changes run nowhere, and may stand in any part.
static bool isStill(Operation *op) {
  return isa<ReadOp, MemberOp, OwnSliceOp>(op) || isReshape(op) ||
         op->hasTrait<OpTrait::ConstantLike>();
}

void Scheduler::number() {
  ops.clear();
  for (Operation &op : step.getBody().front()) {
    positions[&op] = ops.size();
    ops.push_back(&op);
  }
  parts.fill({int64_t(ops.size()), 0});
  for (auto [index, op] : llvm::enumerate(ops)) {
    auto &[begin, end] = parts[unsigned(partOf(op))];
    if (isStill(op) || op->hasTrait<OpTrait::IsTerminator>())
      continue;
    begin = std::min<int64_t>(begin, index);
    end = index + 1;
  }
}

/// Seconds of what the rank's own cores do, and what is live on `tier` as the step stands.
planning::Timeline Scheduler::timelineOf(Tier tier) const {
  planning::Timeline timeline;
  for (Operation *op : ops)
    timeline.seconds.push_back(isa<TransferOp>(op) ? 0 : times.seconds(op));
  Storage storage(module, step);
  timeline.live.assign(ops.size(), 0);
  std::vector<planning::Lifetime> lifetimes = lifetimesOf(storage.roots(), tier);
  int64_t from = 0, bytes = 0;
  for (auto [command, now] : planning::liveBytes(lifetimes, alignmentOf(tier))) {
    std::fill(timeline.live.begin() + from,
              timeline.live.begin() + std::min<int64_t>(command, ops.size()), bytes);
    from = std::min<int64_t>(command, ops.size());
    bytes = now;
  }
  std::fill(timeline.live.begin() + from, timeline.live.end(), bytes);
  return timeline;
}

/// Without a budget the device's peak does not rise, and the host has room for twice what is
/// on its way at once: while one half is worked on, the other comes and goes.
int64_t Scheduler::budgetOf(Tier tier, ArrayRef<int64_t> live) const {
  if (int64_t given = tier == Tier::Device ? budgets.device : budgets.host)
    return given;
  const int64_t most = *llvm::max_element(live), least = *llvm::min_element(live);
  return tier == Tier::Device ? most : most + (most - least);
}

/// Where `value` is read first, under any shape; a write to its symbol moves with it.
int64_t Scheduler::firstReader(Value value) const {
  int64_t first = ops.size();
  for (Operation *user : value.getUsers())
    if (!isa<WriteOp>(user))
      first = std::min(first, isReshape(user) || isa<MemberOp, OwnSliceOp>(user)
                                  ? firstReader(user->getResult(0))
                                  : positions.lookup(user));
  return first;
}

/// What `transfer` brings, if anybody waits for it: since when it could come, and until when
/// it must.
std::optional<planning::Fetch> Scheduler::fetchOf(TransferOp transfer) const {
  if (transfer.getInto())
    return std::nullopt;
  const auto [begin, end] = parts[unsigned(partOf(transfer))];
  Operation *producer = transfer.getInput().getDefiningOp();
  const bool isState = producer && isa<ReadOp>(producer);
  planning::Fetch fetch;
  fetch.needed = std::min(firstReader(transfer.getResult()), end);
  fetch.earliest = std::max(begin, isState || !producer ? 0 : positions.lookup(producer) + 1);
  fetch.seconds = times.seconds(transfer);
  fetch.bytes = tensorBytes(transfer.getInput().getType());
  return fetch.earliest < fetch.needed ? std::optional(fetch) : std::nullopt;
}

/// What `transfer` takes away, with time running backward: from its source's last change on
/// at the latest, until somebody reads what has gone at the earliest.
std::optional<planning::Fetch> Scheduler::drainOf(TransferOp transfer) const {
  const auto [begin, end] = parts[unsigned(partOf(transfer))];
  const int64_t last = int64_t(ops.size()) - 1;
  const int64_t until = std::min(end, firstReader(transfer.getResult())) - 1;
  planning::Fetch drain;
  drain.needed = last - positions.lookup(transfer);
  drain.earliest = last - until;
  drain.seconds = times.seconds(transfer);
  drain.bytes = tensorBytes(transfer.getInput().getType());
  return drain.earliest < drain.needed ? std::optional(drain) : std::nullopt;
}

/// Finds new places for what goes over `link`; room is needed on `tier`.
void Scheduler::place(Link link, Tier tier) {
  number();
  const bool drains = link == Link::DeviceToHost || link == Link::DiskWrite;
  SmallVector<TransferOp> transfers;
  std::vector<planning::Fetch> fetches;
  for (auto transfer : step.getBody().getOps<TransferOp>())
    if (linkOf(transfer) == link)
      if (auto fetch = drains ? drainOf(transfer) : fetchOf(transfer)) {
        transfers.push_back(transfer);
        fetches.push_back(*fetch);
      }
  if (fetches.empty())
    return;
  planning::Timeline timeline = timelineOf(tier);
  const int64_t budget = budgetOf(tier, timeline.live);
  if (drains) {
    std::reverse(timeline.seconds.begin(), timeline.seconds.end());
    std::reverse(timeline.live.begin(), timeline.live.end());
  }
  std::vector<int64_t> begins = planning::placeFetches(timeline, fetches, budget);
  llvm::DenseMap<Operation *, int64_t> moved;
  for (auto [transfer, begin] : llvm::zip_equal(transfers, begins))
    moved[transfer] = drains ? int64_t(ops.size()) - 1 - begin : begin;
  reorder(moved, drains);
}

/// Puts each op of `begins` before the op that stood at its position, or, with what writes its
/// result, behind it.
void Scheduler::reorder(const llvm::DenseMap<Operation *, int64_t> &begins, bool behind) {
  llvm::DenseMap<int64_t, SmallVector<Operation *, 2>> at;
  llvm::DenseSet<Operation *> placed;
  for (Operation *op : ops)
    if (auto it = begins.find(op); it != begins.end())
      at[it->second].push_back(op);
  Block &block = step.getBody().front();
  std::function<void(Operation *)> put = [&](Operation *op) {
    if (!placed.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        if (isStill(producer))
          put(producer);
    op->moveBefore(&block, block.end());
  };
  auto putMoved = [&](int64_t position) {
    for (Operation *op : at.lookup(position)) {
      put(op);
      for (Operation *user : op->getResult(0).getUsers())
        if (behind && isa<WriteOp>(user))
          put(user);
    }
  };
  llvm::DenseSet<Operation *> waits; // for the transfer that they write the result of
  if (behind)
    for (auto &[op, position] : begins)
      for (Operation *user : op->getResult(0).getUsers())
        if (isa<WriteOp>(user))
          waits.insert(user);
  for (auto [position, op] : llvm::enumerate(ops)) {
    if (!behind)
      putMoved(position);
    // What is still comes with what reads it.
    if (!begins.contains(op) && !waits.contains(op) && !isStill(op))
      put(op);
    if (behind)
      putMoved(position);
  }
  for (Operation *op : llvm::reverse(ops))
    if (!placed.contains(op)) // nothing reads it
      op->erase();
}

namespace {
struct ScheduleTransfers : zero::impl::ScheduleTransfersBase<ScheduleTransfers> {
  ScheduleTransfers() = default;
  ScheduleTransfers(const planning::Machine &machine, TierBudgets budgets)
      : machine(machine), budgets(budgets) {}

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    if (step->getBody().getOps<TransferOp>().empty())
      return;
    Scheduler(getOperation(), *step, machine, budgets).run();
  }

  planning::Machine machine;
  TierBudgets budgets;
};
} // namespace

std::unique_ptr<Pass> zero::createScheduleTransfers(const planning::Machine &machine,
                                                    TierBudgets budgets) {
  return std::make_unique<ScheduleTransfers>(machine, budgets);
}
