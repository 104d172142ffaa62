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

/// A launch that takes a gradient, to be moved after an op.
struct Movable {
  LaunchOp update;
  Operation *behind = nullptr;
  /// Of the epilogue: the launch, what follows from it on the host, and the operands of these ops.
  llvm::SetVector<Operation *> ops;
  /// All else that follows from the launch: the device would wait for the host.
  llvm::SetVector<Operation *> late;
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
  bool movesWith(Operation *op, const Movable &movable) const;
  Operation *collectResults(Movable &movable) const;
  Operation *lastReader(StringRef bucket);
  bool collectLate(Movable &movable);
  void move(ArrayRef<Operation *> moving, Operation *&at);

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
    if (!producer || producer->hasTrait<OpTrait::ConstantLike>() || movable.ops.contains(producer))
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
    const bool waitsForNothing = producer->getNumOperands() == 0;
    if (!passesGradient && !waitsForNothing && !isView(producer) &&
        !(launch && !launch.getCondition()))
      return producer;
    if (Operation *stays = collectInputs(producer, movable, passesGradient))
      return stays;
    movable.ops.insert(producer);
  }
  return nullptr;
}

/// Whether a user of what was collected is a write, a view, a gather of new parameters, or a launch
/// that the host runs as well, since it reads nothing else of any size. A launch under a condition
/// is of one rank, but all ranks have a place for its result: it stays where that is used.
bool Overlapper::movesWith(Operation *op, const Movable &movable) const {
  if (isView(op) || isa<WriteOp>(op) || (gathers(op) && !isFetch(op)))
    return true;
  auto launch = dyn_cast<LaunchOp>(op);
  return launch && !launch.getCondition() && mayRunOnHost(launch, symbols) &&
         llvm::all_of(launch.getInputs(), [&](Value input) {
           Operation *producer = input.getDefiningOp();
           const bool isSmall = cast<RankedTensorType>(input.getType()).getRank() == 0;
           return movable.ops.contains(producer) ||
                  (isSmall && (!producer || !isIn(producer, Segment::Epilogue)));
         });
}

/// Whether `value` is written to a state.
static bool isWritten(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<WriteOp>(user) || (isView(user) && isWritten(user->getResult(0)));
  });
}

/// Collects what follows from the update on the host, and of other ops, such as launches of the
/// step of a matrix on the device, the first. These come behind all updates, and must not read the
/// new state: of a disk it would occupy the host until then. Returns one that does, or null.
Operation *Overlapper::collectResults(Movable &movable) const {
  SmallVector<Operation *> work{movable.update};
  while (!work.empty())
    for (Value result : work.pop_back_val()->getResults())
      for (Operation *user : result.getUsers()) {
        if (movesWith(user, movable)) {
          if (movable.ops.insert(user))
            work.push_back(user);
        } else if (isWritten(result)) {
          return user;
        } else {
          movable.late.insert(user);
        }
      }
  movable.late.remove_if([&](Operation *op) { return movable.ops.contains(op); });
  return nullptr;
}

/// Completes `movable.late`. Returns false if it needs all gradients.
bool Overlapper::collectLate(Movable &movable) {
  Movable all = movable;
  for (size_t index = 0; index < movable.late.size(); ++index) {
    Operation *op = movable.late[index];
    all.ops.insert(op);
    movable.late.insert_range(op->getUsers());
  }
  for (Operation *op : movable.late)
    if (!isIn(op, Segment::Epilogue) || collectInputs(op, all, false))
      return false;
  movable.late = all.ops;
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
  if (!movable.behind)
    return update;
  if (Operation *stays = collectResults(movable))
    return stays;
  if (Operation *reader = lastReader(*update.getUpdates());
      reader && positions[reader] > positions[movable.behind])
    movable.behind = reader;
  for (Operation *op : movable.ops)
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && !isIn(producer, Segment::Epilogue) &&
          positions[producer] > positions[movable.behind])
        movable.behind = producer;
  return nullptr;
}

/// Moves ops behind `at`, which becomes the last op moved.
void Overlapper::move(ArrayRef<Operation *> moving, Operation *&at) {
  SmallVector<Operation *> ops(moving);
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
    move(each.ops.getArrayRef(), at);
  }
  // In the order of the epilogue, which is that of all ranks.
  SmallVector<Operation *> late;
  for (Movable &each : movable)
    if (collectLate(each))
      llvm::append_range(late, each.late);
  move(late, at);
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
