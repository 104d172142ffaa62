//===- ShareFetches.cpp - update what backward has read -------------------===//

#include "StepOrder.h"

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Analysis/StepTime.h"
#include "zero/Transforms/Schedule/Passes.h"
#include "zero/Transforms/Schedule/ScheduleTransfers.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_SHAREFETCHES
#include "include/zero/Transforms/Schedule/Passes.h.inc"
} // namespace zero

using namespace zero;

/// The read of a state that a disk makes for the host with `transfer`, or null.
static ReadOp readFromDisk(TransferOp transfer) {
  if (!transfer || linkOf(transfer) != planning::Link::DiskRead)
    return {};
  return throughReshapes(transfer->getOperand(0)).getDefiningOp<ReadOp>();
}

/// Whether each micro-batch moves `value` on to the device.
static bool goesToDevice(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    auto transfer = dyn_cast<TransferOp>(user);
    return transfer && linkOf(transfer) == planning::Link::HostToDevice &&
           scheduleOf(user).isEveryMicroBatch();
  });
}

/// The bytes of the host that a step may have; none without a budget. As in
/// zero-schedule-transfers, an eighth is left for gaps that packing cannot fill.
static std::optional<int64_t> limitOf(ModuleOp module, func::FuncOp step,
                                      const TierBudgets &budgets) {
  if (budgets.host)
    return budgets.host - budgets.host / 8;
  if (!budgets.both)
    return std::nullopt;
  const std::vector<int64_t> device = liveBytes(module, step, Tier::Device);
  return budgets.both - budgets.both / 8 - *llvm::max_element(device);
}

namespace {
/// An operand of an update that backward has read, too.
struct Shared {
  OpOperand *operand;
  TransferOp own;
  Value known;
};

struct ShareFetches : zero::impl::ShareFetchesBase<ShareFetches> {
  ShareFetches() = default;
  explicit ShareFetches(TierBudgets budgets) : budgets(budgets) {}

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    const SmallVector<Shared> all = findShared(*step);
    if (all.empty())
      return;
    std::vector<int64_t> live = liveBytes(getOperation(), *step, Tier::Host);
    const std::optional<int64_t> limit = limitOf(getOperation(), *step, budgets);
    const StepOrder order(*step);
    for (const Shared &each : all)
      if (!limit || keeps(each, order, live, *limit))
        share(each);
  }

  static SmallVector<Shared> findShared(func::FuncOp step) {
    const llvm::DenseSet<Operation *> forward = findForwardOps(step);
    llvm::DenseMap<StringAttr, Value> fetched; // last, by backward
    SmallVector<Shared> found;
    for (Operation &op : step.getBody().front()) {
      if (!isIn(&op, Segment::MicroBatch))
        continue;
      auto launch = dyn_cast<LaunchOp>(op);
      if (launch && launch.getUpdates() && launch.getHost())
        for (OpOperand &operand : launch.getInputsMutable()) {
          auto own = throughReshapes(operand.get()).getDefiningOp<TransferOp>();
          ReadOp read = readFromDisk(own);
          if (Value known = read ? fetched.lookup(read.getSymbolAttr().getAttr()) : Value())
            found.push_back({&operand, own, known});
        }
      auto transfer = dyn_cast<TransferOp>(op);
      ReadOp read = readFromDisk(transfer);
      if (read && !forward.contains(&op) && transfer.getOperand(0) == read &&
          goesToDevice(transfer.getResult()))
        fetched[read.getSymbolAttr().getAttr()] = transfer.getResult();
    }
    return found;
  }

  /// Whether the host has space for the copy that backward made until the update has its own; then
  /// adds it to `live`.
  static bool keeps(const Shared &shared, const StepOrder &order, std::vector<int64_t> &live,
                    int64_t limit) {
    const int64_t bytes = tensorBytes(shared.known.getType());
    int64_t begin = order.positionOf(shared.known.getDefiningOp()) + 1;
    for (Operation *user : shared.known.getUsers())
      begin = std::max(begin, order.positionOf(user) + 1);
    const int64_t end = order.positionOf(shared.own);
    const auto between = llvm::make_range(live.begin() + std::min(begin, end), live.begin() + end);
    if (llvm::any_of(between, [&](int64_t now) { return now + bytes > limit; }))
      return false;
    for (int64_t &now : between)
      now += bytes;
    return true;
  }

  static void share(const Shared &shared) {
    auto [operand, own, known] = shared;
    OpBuilder builder(operand->getOwner());
    Value before = own->getOperand(0), old = operand->get();
    Value shaped = viewLike(before, throughReshapes(before), known, builder);
    operand->set(viewLike(old, own.getResult(), shaped, builder));
    while (Operation *op = old.getDefiningOp()) {
      if (!op->use_empty())
        break;
      old = op->getNumOperands() ? op->getOperand(0) : Value();
      op->erase();
      if (!old)
        break;
    }
  }

  TierBudgets budgets;
};
} // namespace

std::unique_ptr<Pass> zero::createShareFetches(TierBudgets budgets) {
  return std::make_unique<ShareFetches>(budgets);
}
