//===- ScheduleTransfers.cpp - schedule transfers -------------------------===//

#include "zero/Transforms/Schedule/ScheduleTransfers.h"

#include "StepOrder.h"

#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Analysis/StepTime.h"
#include "zero/Analysis/Storage.h"
#include "zero/Planning/Packing.h"
#include "zero/Planning/Prefetch.h"
#include "zero/Transforms/Plan.h"
#include "zero/Transforms/Schedule/Passes.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SCHEDULETRANSFERS
#include "include/zero/Transforms/Schedule/Passes.h.inc"
} // namespace zero

using namespace zero;
using planning::firstFitBytes;
using planning::Link;

/// Costs are estimates, and cores and disks are shared. A transfer should therefore arrive earlier
/// than needed, by its own seconds times this factor. A gather, which also waits for the slowest
/// rank, gets a larger factor.
static constexpr double kMargin = 1, kGatherMargin = 4;

static bool isOfDrive(TransferOp op) {
  return linkOf(op) == Link::DiskRead || linkOf(op) == Link::DiskWrite;
}

/// The part of its seconds for which a transfer of drives delays those in the other direction.
static double conflictOf(const planning::Machine &machine) {
  const planning::DriveShare read = driveShare(machine, Link::DiskRead),
                             write = driveShare(machine, Link::DiskWrite);
  return std::clamp(std::max(read.time + write.time, read.bus + write.bus) - 1, 0.0, 1.0);
}

/// The gradients that `update` reads, which came to the host for it.
static int64_t arrivedBytes(Operation *update) {
  int64_t bytes = 0;
  for (Value operand : update->getOperands())
    if (cameOver(Link::DeviceToHost, operand))
      bytes += tensorBytes(operand.getType());
  return bytes;
}

bool zero::fitsBudgets(ModuleOp module, func::FuncOp step, const TierBudgets &budgets,
                       int64_t device) {
  if (!budgets.both && !budgets.host)
    return true;
  const Storage storage(module, step);
  if (!budgets.both)
    return firstFitBytes(lifetimesOf(storage.roots(), Tier::Host), alignmentOf(Tier::Host),
                         budgets.host) <= budgets.host;
  const int64_t host = firstFitBytes(lifetimesOf(storage.roots(), Tier::Host),
                                     alignmentOf(Tier::Host), budgets.both - device);
  const int64_t left = budgets.both - host;
  return left >= device && firstFitBytes(lifetimesOf(storage.roots(), Tier::Device),
                                         alignmentOf(Tier::Device), left) <= left;
}

namespace {
/// Places the gathers, the updates of the host where they will be complete, and then the transfers
/// over one pair of tiers at a time, and reorders the step once for each. The transfers next to the
/// kernels come first, because the others depend on them.
///
/// An update stays in the order of the step until it is complete, so that its gradient keeps its
/// bytes, and a kernel or a transfer behind it takes others. If it came right behind its gradient,
/// the next gradient would be given the same bytes on both tiers, and wait for the update.
class Scheduler {
public:
  Scheduler(ModuleOp module, func::FuncOp step, const planning::Machine &machine,
            TierBudgets budgets)
      : module(module), step(step), mesh(module), times(module, machine), budgets(budgets),
        conflict(conflictOf(machine)) {}

  void run() {
    place(Tier::Device, /*drains=*/false, gathers);
    if (budgets.prefetch > 0)
      place(Tier::Device, /*drains=*/true, [&](Operation *op) { return reducesGradient(op); });
    if (llvm::any_of(step.getBody().front(), [](Operation &op) { return isUpdateBeside(&op); })) {
      StepOrder(step).move(llvm::DenseMap<Operation *, int64_t>(),
                           /*behind=*/false); // erases what nothing reads, before it is saved
      const Order order = saveOrder();
      place(Tier::Host, /*drains=*/true, isUpdateBeside);
      placeOnDevice();
      placeOnHost();
      if (fits())
        return;
      restore(order); // each update next to its gradient
    }
    placeOnDevice();
    const Order order = saveOrder();
    movesToHost = false;
    placeOnHost();
    if (!movesToHost || fits())
      return;
    restore(order);
    stagesLess = true;
    placeOnHost();
    if (!fillsHost() && !fits())
      restore(order); // transfers of the disk are next to what needs them
  }

private:
  /// The ops in their order, with their attributes.
  using Order = std::vector<std::pair<Operation *, DictionaryAttr>>;
  Order saveOrder();
  void restore(const Order &order);

  void placeOnDevice() {
    place(Tier::Device, Link::HostToDevice);
    place(Tier::Device, Link::DeviceToHost);
  }
  void placeOnHost() {
    place(Tier::Host, Link::DiskRead);
    place(Tier::Host, Link::DiskWrite);
  }
  bool fits() const { return fitsBudgets(module, step, budgets, peak); }
  /// Whether a planner fills the host with state: what would be left for transfers is wanted.
  bool fillsHost() const {
    auto plan = module->getAttrOfType<PlanAttr>(kPlanAttr);
    return plan && plan.getNearer().getHost() > 0;
  }
  void place(Tier tier, Link link) {
    const bool drains = link == Link::DeviceToHost || link == Link::DiskWrite;
    place(tier, drains, [=](Operation *op) {
      auto transfer = dyn_cast<TransferOp>(op);
      return transfer && linkOf(transfer) == link;
    });
  }
  void place(Tier tier, bool drains, llvm::function_ref<bool(Operation *)> selects);
  planning::Timeline timelineOf(const StepOrder &order, Tier tier) const;
  void occupy(planning::Timeline &timeline, const StepOrder &order,
              llvm::function_ref<double(Operation *)> seconds) const;
  double secondsBeside(Operation *moving, Operation *other) const;
  /// Whether `op` reduces gradients of parameters. Control values are small, and what depends on
  /// them waits, as it does for activations.
  bool reducesGradient(Operation *op) const {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    return reduces(op) && !collective.isControl() && !collective.getDestination() &&
           !mesh.exchangesActivations(collective.getCollectiveGroup());
  }
  /// Whether `op` runs on another lane than kernels.
  bool runsBeside(Operation *op) const {
    return isa<TransferOp>(op) || isUpdateBeside(op) || gathers(op) ||
           (budgets.prefetch > 0 && reducesGradient(op));
  }
  int64_t budgetOf(Tier tier, ArrayRef<int64_t> live, bool keepsState) const;
  void leaveEpilogue(Operation *op);
  std::optional<planning::Fetch> fetchOf(const StepOrder &order, Operation *op) const;
  std::optional<planning::Fetch> drainOf(const StepOrder &order, Operation *op) const;

  ModuleOp module;
  func::FuncOp step;
  Mesh mesh;
  OpTimes times;
  TierBudgets budgets;
  double conflict;
  int64_t peak = -1;        ///< of the device before any op moves
  bool movesToHost = false; ///< whether transfers of the disk were placed
  bool stagesLess = false;  ///< the host has no space for more than the step needs at once
};
} // namespace

/// The seconds of the rank's own work, and the live bytes on `tier` in the current order.
planning::Timeline Scheduler::timelineOf(const StepOrder &order, Tier tier) const {
  planning::Timeline timeline;
  for (Operation *op : order.getOps())
    timeline.seconds.push_back(runsBeside(op) ? 0 : times.seconds(op));
  timeline.live = liveBytes(module, step, tier);
  return timeline;
}

/// Seconds of the link of `moving`, which is placed, that `other` takes, which is not: collectives
/// have one lane, and drives may read and write in turns.
double Scheduler::secondsBeside(Operation *moving, Operation *other) const {
  if (isa<CollectiveOpInterface>(moving))
    return isa<CollectiveOpInterface>(other) && runsBeside(other) ? times.seconds(other) : 0;
  auto first = dyn_cast<TransferOp>(moving), second = dyn_cast<TransferOp>(other);
  return first && isOfDrive(first) && second && isOfDrive(second) ? conflict * times.seconds(second)
                                                                  : 0;
}

/// Adds the ops that take `seconds` of a link to `timeline`.
void Scheduler::occupy(planning::Timeline &timeline, const StepOrder &order,
                       llvm::function_ref<double(Operation *)> seconds) const {
  for (auto [index, op] : llvm::enumerate(order.getOps()))
    if (const double each = seconds(op); each > 0)
      timeline.occupations.push_back({int64_t(index), /*link=*/0, each});
}

/// Without a budget the peak of the device rises by the bytes for prefetching only, and the host
/// has space for twice the bytes in transit: one half is used while the other is transferred. With
/// a budget it has what that leaves if the packed step fits then, else no more than is needed at
/// once. An eighth of a budget, or of what state that the host keeps leaves of it, remains for gaps
/// that packing cannot fill.
int64_t Scheduler::budgetOf(Tier tier, ArrayRef<int64_t> live, bool keepsState) const {
  const int64_t most = *llvm::max_element(live), least = *llvm::min_element(live);
  const int64_t given = tier == Tier::Device ? budgets.device : budgets.host;
  const int64_t limit = given - (keepsState ? given - least : given) / 8;
  if (tier == Tier::Host) {
    const int64_t twice = most + (most - least);
    if (stagesLess)
      return most;
    if (budgets.both)
      return std::clamp(budgets.both - budgets.both / 8 - peak, most, twice);
    return given ? limit : twice;
  }
  if (budgets.prefetch == 0)
    return given ? limit : most;
  return given ? std::min(limit, peak + budgets.prefetch) : peak + budgets.prefetch;
}

Scheduler::Order Scheduler::saveOrder() {
  Order order;
  for (Operation &op : step.getBody().front())
    order.emplace_back(&op, op.getAttrDictionary());
  return order;
}

void Scheduler::restore(const Order &order) {
  Block &block = step.getBody().front();
  for (auto [op, attributes] : order) {
    op->moveBefore(&block, block.end());
    op->setAttrs(attributes);
  }
}

/// The fetch of `op`, if an op waits for it: the earliest time at which it can begin, and the time
/// at which it must be complete.
std::optional<planning::Fetch> Scheduler::fetchOf(const StepOrder &order, Operation *op) const {
  if (!isFetch(op))
    return std::nullopt;
  planning::Fetch fetch;
  fetch.needed = std::min(order.firstReader(op->getResult(0)), order.partOf(op).second);
  fetch.earliest = order.earliestStart(op);
  fetch.seconds = times.seconds(op);
  fetch.margin = (gathers(op) ? kGatherMargin : kMargin) * fetch.seconds;
  fetch.bytes = tensorBytes(op->getResult(0).getType());
  return fetch;
}

/// The transfer `op` to another tier, with time reversed: from the last change of its source at the
/// latest, until the first reader of its result at the earliest. Or an update of the host, during
/// which its gradient is there, until the end of backward at the earliest.
std::optional<planning::Fetch> Scheduler::drainOf(const StepOrder &order, Operation *op) const {
  const int64_t end = order.partOf(op).second, last = order.size() - 1;
  const bool isUpdate = isUpdateBeside(op);
  int64_t until = end - 1;
  if (!isUpdate)
    until = std::min(until, order.firstReader(op->getResult(0)) - 1);
  if (isa<CollectiveOpInterface>(op)) // The lane runs collectives in the order of the step.
    until = std::min(until, order.nextCollective(op) - 1);
  planning::Fetch drain;
  drain.needed = last - order.positionOf(op);
  drain.earliest = last - until;
  drain.seconds = times.seconds(op);
  drain.margin = kMargin * drain.seconds;
  drain.bytes = isUpdate ? arrivedBytes(op) : tensorBytes(op->getOperand(0).getType());
  return drain.earliest < drain.needed ? std::optional(drain) : std::nullopt;
}

/// Schedules the fetch `op`, and what it needs, in the last micro-batch if they are in the
/// epilogue.
void Scheduler::leaveEpilogue(Operation *op) {
  if (!isIn(op, Segment::Epilogue))
    return;
  scheduleInLastMicroBatch(op, iterationsOf(module));
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp())
      leaveEpilogue(producer);
}

/// Finds new places for the ops that are selected and bring something to `tier`, or, if it
/// `drains`, take something away.
void Scheduler::place(Tier tier, bool drains, llvm::function_ref<bool(Operation *)> selects) {
  if (llvm::none_of(step.getBody().front(), [&](Operation &op) { return selects(&op); }))
    return;
  StepOrder order(step);
  SmallVector<Operation *> moving;
  std::vector<planning::Fetch> fetches;
  for (Operation *op : order.getOps()) {
    if (!selects(op))
      continue;
    if (auto fetch = drains ? drainOf(order, op) : fetchOf(order, op)) {
      moving.push_back(op);
      fetches.push_back(*fetch);
    }
  }
  if (moving.empty())
    return;
  movesToHost |= tier == Tier::Host;
  planning::Timeline timeline = timelineOf(order, tier);
  occupy(timeline, order,
         [&](Operation *op) { return selects(op) ? 0 : secondsBeside(moving.front(), op); });
  if (peak < 0 && (tier == Tier::Device || budgets.both))
    peak = *llvm::max_element(tier == Tier::Device ? timeline.live
                                                   : timelineOf(order, Tier::Device).live);
  if (drains) {
    std::reverse(timeline.seconds.begin(), timeline.seconds.end());
    std::reverse(timeline.live.begin(), timeline.live.end());
    std::reverse(timeline.occupations.begin(), timeline.occupations.end());
    for (planning::Occupation &other : timeline.occupations)
      other.from = order.size() - 1 - other.from;
  }
  const std::vector<int64_t> begins = planning::placeFetches(
      timeline, fetches, budgetOf(tier, timeline.live, isUpdateBeside(moving.front())));
  llvm::DenseMap<Operation *, int64_t> places;
  for (auto [op, begin] : llvm::zip_equal(moving, begins))
    places[op] = drains ? order.size() - 1 - begin : begin;
  for (Operation *op : moving)
    if (!drains && order.isInMicroBatch(places[op]))
      leaveEpilogue(op);
  order.move(places, drains);
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
    if (step->getBody().getOps<TransferOp>().empty() && budgets.prefetch == 0)
      return;
    Scheduler(getOperation(), *step, machine, budgets).run();
    if (budgets.prefetch > 0)
      getOperation()->setAttr(kPrefetchAttr,
                              Builder(&getContext()).getI64IntegerAttr(budgets.prefetch));
  }

  planning::Machine machine;
  TierBudgets budgets;
};
} // namespace

std::unique_ptr<Pass> zero::createScheduleTransfers(const planning::Machine &machine,
                                                    TierBudgets budgets) {
  return std::make_unique<ScheduleTransfers>(machine, budgets);
}
