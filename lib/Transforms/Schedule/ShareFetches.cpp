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

namespace {
/// An operand of an update that backward has read, too.
struct Shared {
  OpOperand *operand;
  Value before;
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
    for (const Shared &each : all)
      share(each);
    int64_t device = 0;
    if (budgets.both)
      device = *llvm::max_element(liveBytes(getOperation(), *step, Tier::Device));
    const bool fits = fitsBudgets(getOperation(), *step, budgets, device);
    for (const Shared &each : all) {
      const Value unused = fits ? each.before : each.operand->get();
      if (!fits)
        each.operand->set(each.before);
      eraseUnused(unused);
    }
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
            found.push_back({&operand, operand.get(), own, known});
        }
      auto transfer = dyn_cast<TransferOp>(op);
      ReadOp read = readFromDisk(transfer);
      if (read && !forward.contains(&op) && transfer.getOperand(0) == read &&
          goesToDevice(transfer.getResult()))
        fetched[read.getSymbolAttr().getAttr()] = transfer.getResult();
    }
    return found;
  }

  static void share(const Shared &shared) {
    auto [operand, before, own, known] = shared;
    OpBuilder builder(operand->getOwner());
    Value read = own->getOperand(0);
    Value shaped = viewLike(read, throughReshapes(read), known, builder);
    operand->set(viewLike(before, own.getResult(), shaped, builder));
  }

  static void eraseUnused(Value value) {
    for (Operation *op = value.getDefiningOp(); op && op->use_empty();) {
      Operation *source = op->getNumOperands() ? op->getOperand(0).getDefiningOp() : nullptr;
      op->erase();
      op = source;
    }
  }

  TierBudgets budgets;
};
} // namespace

std::unique_ptr<Pass> zero::createShareFetches(TierBudgets budgets) {
  return std::make_unique<ShareFetches>(budgets);
}
