//===- StepOrder.cpp - the order of a step's ops --------------------------===//

#include "StepOrder.h"

#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Analysis/StepTime.h"
#include "zero/Analysis/Storage.h"
#include "zero/Planning/Packing.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace zero {

bool hasNoCommand(Operation *op) {
  return isView(op) || isa<ReadOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
}

bool isFetch(Operation *op) {
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return collective.isFetch();
  auto transfer = dyn_cast<TransferOp>(op);
  if (!transfer || transfer.getInto())
    return false;
  const planning::Link link = linkOf(transfer);
  return link == planning::Link::HostToDevice || link == planning::Link::DiskRead;
}

bool mayRunOnHost(LaunchOp launch, const SymbolTable &symbols) {
  return !launch->getParentOfType<ModuleOp>()->hasAttr(kDeviceAttr) ||
         symbols.lookup(hostKernelName(launch.getKernel()));
}

void scheduleInLastMicroBatch(Operation *op, int64_t microBatches) {
  const bool runs = isa<WriteOp, LaneOpInterface, BucketOp>(op); // a bucket copies its parts
  setSchedule(
      op, {Segment::MicroBatch, microBatches > 1 && runs ? Iterations::Last : Iterations::Every});
}

std::vector<int64_t> liveBytes(ModuleOp module, func::FuncOp step, Tier tier) {
  Storage storage(module, step);
  const auto size = int64_t(step.getBody().front().getOperations().size());
  std::vector<int64_t> live(size_t(size), 0);
  const std::vector<planning::Lifetime> lifetimes = lifetimesOf(storage.roots(), tier);
  int64_t from = 0, bytes = 0;
  for (auto [command, now] : planning::liveBytes(lifetimes, alignmentOf(tier))) {
    std::fill(live.begin() + from, live.begin() + std::min<int64_t>(command, size), bytes);
    from = std::min<int64_t>(command, size);
    bytes = now;
  }
  std::fill(live.begin() + from, live.end(), bytes);
  return live;
}

StepOrder::StepOrder(func::FuncOp step) : block(step.getBody().front()) {
  for (Operation &op : block) {
    positions[&op] = size();
    ops.push_back(&op);
  }
  parts.fill({size(), 0});
  for (auto [index, op] : llvm::enumerate(ops)) {
    auto &[begin, end] = parts[size_t(segmentOf(op))];
    if (hasNoCommand(op) || op->hasTrait<OpTrait::IsTerminator>())
      continue;
    begin = std::min<int64_t>(begin, index);
    end = index + 1;
    if (auto write = dyn_cast<WriteOp>(op); write && isIn(op, Segment::MicroBatch)) {
      written.insert(write.getSymbolAttr().getAttr());
      if (op->hasAttr(kDelayedAttr))
        delayed[write.getSymbolAttr().getAttr()] = {int64_t(index), size()};
    }
  }
  for (Operation *op : ops)
    if (auto read = dyn_cast<ReadOp>(op); read && !op->hasAttr(kDelayedAttr))
      if (auto write = delayed.find(read.getSymbolAttr().getAttr()); write != delayed.end())
        write->second.read = std::min(write->second.read, firstReader(read.getResult()));
}

std::pair<int64_t, int64_t> StepOrder::partOf(Operation *op) const {
  return parts[size_t(segmentOf(op))];
}

/// Whether micro-batches write a state that `value` is fetched from.
bool StepOrder::isWrittenInMicroBatch(Value value) const {
  Operation *producer = value.getDefiningOp();
  if (!producer || (!hasNoCommand(producer) && !isFetch(producer)))
    return false;
  if (auto read = dyn_cast<ReadOp>(producer))
    return written.contains(read.getSymbolAttr().getAttr());
  return llvm::any_of(producer->getOperands(),
                      [&](Value operand) { return isWrittenInMicroBatch(operand); });
}

int64_t StepOrder::earliestStart(Operation *op) const {
  const int64_t available = availableFrom(op->getOperand(0));
  const bool mayCross = isIn(op, Segment::Epilogue) && isa<TransferOp>(op) &&
                        !isWrittenInMicroBatch(op->getOperand(0));
  const auto part = parts[size_t(mayCross ? Segment::MicroBatch : segmentOf(op))];
  return std::max(std::min(part.first, partOf(op).first), available);
}

int64_t StepOrder::availableFrom(Value value) const {
  Operation *producer = value.getDefiningOp();
  if (!producer)
    return 0;
  if (!hasNoCommand(producer) && !isFetch(producer))
    return positionOf(producer) + 1;
  int64_t from = 0;
  if (auto read = dyn_cast<ReadOp>(producer); read && !read->hasAttr(kDelayedAttr))
    if (auto write = delayed.find(read.getSymbolAttr().getAttr()); write != delayed.end())
      from = write->second.position + 1;
  for (Value operand : producer->getOperands())
    from = std::max(from, availableFrom(operand));
  return from;
}

int64_t StepOrder::firstReader(Value value) const {
  int64_t first = size();
  for (Operation *user : value.getUsers())
    if (auto write = dyn_cast<WriteOp>(user)) {
      if (user->hasAttr(kDelayedAttr))
        first = std::min(first, delayed.at(write.getSymbolAttr().getAttr()).read);
    } else {
      first =
          std::min(first, hasNoCommand(user) ? firstReader(user->getResult(0)) : positionOf(user));
    }
  return first;
}

int64_t StepOrder::nextCollective(Operation *op) const {
  int64_t next = positionOf(op) + 1;
  while (next < size() && !isa<CollectiveOpInterface>(ops[next]))
    ++next;
  return next;
}

/// Adds the views and writes of the results of `op`. Returns false if any other op reads them.
static bool collectKeepers(Operation *op, llvm::SetVector<Operation *> &keepers) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    keepers.insert(user);
    return isa<WriteOp>(user) || (isView(user) && collectKeepers(user, keepers));
  });
}

bool cameOver(planning::Link link, Value value) {
  auto transfer = throughReshapes(value).getDefiningOp<TransferOp>();
  return transfer && linkOf(transfer) == link;
}

bool isUpdateBeside(Operation *op) {
  auto launch = dyn_cast<LaunchOp>(op);
  llvm::SetVector<Operation *> keepers;
  return launch && launch.getUpdates() && launch.getHost() && isIn(op, Segment::MicroBatch) &&
         !op->hasAttr(kDelayedAttr) &&
         llvm::none_of(op->getOperands(),
                       [](Value operand) { return cameOver(planning::Link::DiskRead, operand); }) &&
         collectKeepers(op, keepers);
}

/// What moves behind another op with `op`, since it writes the results of `op` down.
static SmallVector<Operation *> followersOf(Operation *op) {
  llvm::SetVector<Operation *> keepers;
  if (isa<LaunchOp>(op))
    collectKeepers(op, keepers);
  else if (op->getResult(0).hasOneUse() && isa<WriteOp>(*op->user_begin()))
    keepers.insert(*op->user_begin());
  return keepers.takeVector();
}

namespace {
/// Writes the ops of a step down in a new order.
class Mover {
public:
  Mover(Block &block, bool behind) : block(block), behind(behind) {}

  /// Appends `op`, after the movable ops that it needs.
  void put(Operation *op) {
    if (!placed.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        if (hasNoCommand(producer) || isFetch(producer))
          put(producer);
    op->moveBefore(&block, block.end());
  }

  /// The same for ops that were moved here. If an op was placed after another one, its followers
  /// are, too.
  void putMoved(ArrayRef<Operation *> moved) {
    for (Operation *op : moved) {
      put(op);
      if (behind)
        for (Operation *follower : followersOf(op))
          put(follower);
    }
  }

  bool isPlaced(Operation *op) const { return placed.contains(op); }

private:
  Block &block;
  bool behind;
  llvm::DenseSet<Operation *> placed;
};
} // namespace

void StepOrder::move(const llvm::DenseMap<Operation *, int64_t> &begins, bool behind) {
  llvm::DenseMap<int64_t, SmallVector<Operation *, 2>> at;
  llvm::DenseSet<Operation *> waits; // for the op that they follow
  for (Operation *op : ops)
    if (auto it = begins.find(op); it != begins.end()) {
      at[it->second].push_back(op);
      if (behind)
        waits.insert_range(followersOf(op));
    }
  Mover mover(block, behind);
  for (auto [position, op] : llvm::enumerate(ops)) {
    if (!behind)
      mover.putMoved(at.lookup(position));
    // A view or read is placed with its reader.
    if (!begins.contains(op) && !waits.contains(op) && !hasNoCommand(op))
      mover.put(op);
    if (behind)
      mover.putMoved(at.lookup(position));
  }
  for (Operation *op : llvm::reverse(ops))
    if (!mover.isPlaced(op)) // nothing reads it
      op->erase();
}

} // namespace zero
