//===- OverlapUpdates.cpp - move updates into backward --------------------===//

#include "StepOrder.h"

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Schedule/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_OVERLAPUPDATES
#include "include/zero/Transforms/Schedule/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

/// An update with its operands and the users of its results, to be moved after an op.
struct Movable {
  LaunchOp update;
  Operation *behind = nullptr;
  llvm::SetVector<Operation *> ops; ///< of the epilogue
};

class Overlapper {
public:
  Overlapper(ModuleOp module, func::FuncOp step);

  /// Moves the updates that can be moved. Returns the others and the ops they wait for.
  SmallVector<std::pair<LaunchOp, Operation *>> run();

private:
  bool isOffloaded(LaunchOp update) const;
  Operation *collect(Movable &movable);
  Operation *collectInputs(Operation *op, Movable &movable, bool ofGradient);
  bool collectResults(Movable &movable);
  Operation *lastReader(StringRef bucket);
  void move(const Movable &movable, Operation *&at);

  ModuleOp module;
  func::FuncOp step;
  SymbolTable symbols;
  int64_t microBatches;
  llvm::DenseMap<Operation *, int64_t> positions;
  llvm::DenseMap<StringAttr, SmallVector<ReadOp>> reads;
  llvm::DenseSet<Operation *> moved;
};

} // namespace

Overlapper::Overlapper(ModuleOp module, func::FuncOp step)
    : module(module), step(step), symbols(module), microBatches(iterationsOf(module)) {
  int64_t position = 0;
  for (Operation &op : step.getBody().front()) {
    positions[&op] = position++;
    if (auto read = dyn_cast<ReadOp>(op))
      reads[read.getSymbolAttr().getAttr()].push_back(read);
  }
}

/// Whether any state that `update` changes resides on another tier.
bool Overlapper::isOffloaded(LaunchOp update) const {
  return llvm::any_of(update.getInputs(), [&](Value input) {
    auto read = throughReshapes(input).getDefiningOp<ReadOp>();
    auto buffer = read ? symbols.lookup<BufferOp>(read.getSymbol()) : BufferOp();
    return buffer && buffer.getRole() == Role::Optimizer && buffer.getHomeTier() != Tier::Device;
  });
}

/// Collects the ops of the epilogue that `op` reads. Returns an op that must remain after all
/// gradients, or null. A gradient may still have to be summed over ranks; `op` is such a sum, or a
/// view of one, if it is `ofGradient`.
Operation *Overlapper::collectInputs(Operation *op, Movable &movable, bool ofGradient) {
  auto reader = dyn_cast<LaunchOp>(op);
  const std::optional<uint64_t> gradient = reader ? reader.getGradient() : std::nullopt;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    Operation *producer = operand.getDefiningOp();
    if (!producer || producer->hasTrait<OpTrait::ConstantLike>())
      continue;
    const bool isGradient = ofGradient || gradient == index;
    if (!isIn(producer, Segment::Epilogue)) {
      if (isGradient)
        movable.behind = producer;
      else if (!isa<ReadOp>(producer) && !isView(producer) && !isIn(producer, Segment::Prologue))
        return producer;
      continue;
    }
    const bool passesGradient = isGradient && (reduces(producer) || isView(producer));
    auto launch = dyn_cast<LaunchOp>(producer);
    if (!passesGradient && !isa<ReadOp>(producer) && !isView(producer) &&
        !(launch && !launch.getCondition()))
      return producer;
    if (Operation *stays = collectInputs(producer, movable, passesGradient))
      return stays;
    movable.ops.insert(producer);
  }
  return nullptr;
}

/// Collects the users of the updated values. Returns false if there are users other than writes.
bool Overlapper::collectResults(Movable &movable) {
  SmallVector<Operation *> work{movable.update};
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers()) {
      if (!isView(user) && !isa<WriteOp>(user) && !gathers(user))
        return false;
      if (movable.ops.insert(user))
        work.push_back(user);
    }
  return true;
}

/// The last op of the micro-batch that reads parameters of `bucket`, or null. A fetch of them may
/// still be moved to the first op that reads what it fetches.
Operation *Overlapper::lastReader(StringRef bucket) {
  Operation *last = nullptr;
  SmallVector<Operation *> work;
  for (ReadOp read : reads.lookup(StringAttr::get(module.getContext(), bucket)))
    work.push_back(read);
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers()) {
      if (isIn(user, Segment::Epilogue))
        continue;
      if (isView(user) || isFetch(user))
        work.push_back(user);
      else if (!last || positions[last] < positions[user])
        last = user;
    }
  return last;
}

/// Fills `movable`, or returns the op for which its update must wait.
Operation *Overlapper::collect(Movable &movable) {
  LaunchOp update = movable.update;
  if (Value condition = update.getCondition())
    return condition.getDefiningOp();
  if (Operation *stays = collectInputs(update, movable, false))
    return stays;
  movable.ops.insert(update);
  if (!movable.behind || !collectResults(movable))
    return update;
  if (Operation *reader = lastReader(*update.getUpdates());
      reader && positions[reader] > positions[movable.behind])
    movable.behind = reader;
  return nullptr;
}

/// Moves behind `at`, which becomes the last op moved.
void Overlapper::move(const Movable &movable, Operation *&at) {
  SmallVector<Operation *> ops(movable.ops.begin(), movable.ops.end());
  llvm::sort(ops, [&](Operation *a, Operation *b) { return positions[a] < positions[b]; });
  for (Operation *op : ops) {
    if (!moved.insert(op).second)
      continue;
    scheduleInLastMicroBatch(op, microBatches);
    op->moveAfter(at);
    at = op;
  }
}

SmallVector<std::pair<LaunchOp, Operation *>> Overlapper::run() {
  SmallVector<Movable> movable;
  SmallVector<std::pair<LaunchOp, Operation *>> stay;
  for (auto launch : step.getBody().getOps<LaunchOp>()) {
    if (!launch.getUpdates() || !isOffloaded(launch))
      continue;
    Movable &candidate = movable.emplace_back();
    candidate.update = launch;
    if (Operation *reason = collect(candidate)) {
      movable.pop_back();
      stay.emplace_back(launch, reason);
    }
  }
  llvm::stable_sort(movable, [&](const Movable &a, const Movable &b) {
    return positions[a.behind] < positions[b.behind];
  });
  Operation *at = nullptr, *behind = nullptr;
  for (const Movable &each : movable) {
    if (each.behind != behind)
      at = behind = each.behind;
    move(each, at);
  }
  return stay;
}

namespace {
struct OverlapUpdates : zero::impl::OverlapUpdatesBase<OverlapUpdates> {
  using OverlapUpdatesBase::OverlapUpdatesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    auto stay = Overlapper(module, *step).run();
    if (quiet || stay.empty())
      return;
    auto [update, reason] = stay.front();
    remark::passed(update.getLoc(), remark::RemarkOpts::name("overlap").category("offload"))
        << std::to_string(stay.size()) + " updates of state on other tiers wait for '" +
               displayName(reason) + "', which needs all gradients";
  }
};
} // namespace
