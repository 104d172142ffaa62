//===- InsertTransfers.cpp - insert transfers between tiers ---------------===//

#include "StepOrder.h"
#include "TierCopies.h"

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Schedule/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_INSERTTRANSFERS
#include "include/zero/Transforms/Schedule/Passes.h.inc"
} // namespace zero

using namespace zero;

/// Whether `kernel`, which is bufferized, reads argument `index` or only writes it.
static bool readsArgument(func::FuncOp kernel, unsigned index) {
  BlockArgument argument = kernel.getArgument(index);
  if (!isa<MemRefType>(argument.getType()))
    return true;
  return llvm::any_of(argument.getUses(), [](OpOperand &use) {
    auto store = dyn_cast<memref::StoreOp>(use.getOwner());
    return !isa<memref::DimOp>(use.getOwner()) && !(store && use.get() == store.getMemRef());
  });
}

/// The tier on which result `index` of `op` waits for its readers.
static Tier keptTier(Operation *op, unsigned index) {
  Attribute attr = op->getAttr(kTierAttr);
  if (auto each = dyn_cast_or_null<ArrayAttr>(attr))
    attr = each[index];
  auto tier = dyn_cast_or_null<TierAttr>(attr);
  return tier ? tier.getValue() : Tier::Device;
}

namespace {

/// Walks the step once, in order.
class Inserter {
public:
  Inserter(ModuleOp module, func::FuncOp step)
      : step(step), symbols(module), forward(findForwardOps(step)) {}

  void run();

private:
  /// Whether `value` is a value of forward that is offloaded until backward reads it.
  bool isSaved(Value value) const { return saved.contains(throughReshapes(value)); }
  bool belongsToHost(LaunchOp launch);
  void visitLaunch(LaunchOp launch);
  void splitReads();
  void visitWrite(WriteOp write);
  Value operandFor(LaunchOp launch, func::FuncOp kernel, unsigned index, Tier tier);
  void collectLateReaders(Value value, bool isForward, SmallVectorImpl<OpOperand *> &readers);
  void keepElsewhere(OpResult value, Tier tier);
  void storeSum(LaunchOp launch);

  func::FuncOp step;
  SymbolTable symbols;
  llvm::DenseSet<Operation *> forward;
  TierCopies copies;
  llvm::DenseSet<Value> saved;
};

} // namespace

/// Whether `launch` works in place on state of another tier, or reads nothing large from the
/// device.
bool Inserter::belongsToHost(LaunchOp launch) {
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  bool anyElsewhere = false, anyLarge = false;
  for (auto [index, input] : llvm::enumerate(launch.getInputs())) {
    const bool elsewhere = copies.tierOf(input) != Tier::Device && !isSaved(input);
    anyElsewhere |= elsewhere;
    anyLarge |= !elsewhere && cast<RankedTensorType>(input.getType()).getRank() > 0;
    if (!elsewhere || !kernel.getArgAttr(index, kInplaceAttr))
      continue;
    auto read = throughViews(input).getDefiningOp<ReadOp>();
    auto buffer = read ? symbols.lookup<BufferOp>(read.getSymbol()) : BufferOp();
    if (!buffer || buffer.getRole() != Role::Parameter)
      return true;
  }
  return anyElsewhere && !anyLarge;
}

void Inserter::visitLaunch(LaunchOp launch) {
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  const Tier tier =
      mayRunOnHost(launch, symbols) && belongsToHost(launch) ? Tier::Host : Tier::Device;
  if (tier == Tier::Host) {
    launch.setHost(true);
    if (auto clone = symbols.lookup<func::FuncOp>(hostKernelName(launch.getKernel()))) {
      launch.setKernel(clone.getName());
      kernel = clone;
    }
  }
  for (Value output : launch.getOutputs())
    copies.setTier(output, tier);
  for (auto [index, input] : llvm::enumerate(launch.getInputs())) {
    Value value = input;
    auto result = kernel.getArgAttrOfType<IntegerAttr>(index, kInplaceAttr);
    const bool isHere = copies.tierOf(value) == tier;
    if (!isHere)
      launch.getInputsMutable()[index].assign(operandFor(launch, kernel, index, tier));
    if (!result || isSaved(value))
      continue;
    if (Value original = isHere ? copies.originalOf(value) : value)
      copies.setOriginal(launch.getOutputs()[result.getInt()], original);
  }
}

/// Operand `index` of `launch`, which resides on `tier`: shared with other readers, unless the
/// kernel works in place on state.
Value Inserter::operandFor(LaunchOp launch, func::FuncOp kernel, unsigned index, Tier tier) {
  Value value = launch.getInputs()[index];
  if (!kernel.getArgAttr(index, kInplaceAttr) || isSaved(value))
    return copies.bring(value, tier, launch);
  // An op that may not run leaves the previous value.
  const bool surelyRuns =
      !launch.getCondition() && scheduleOf(launch) == scheduleOf(launch).beside();
  if (surelyRuns && tier == Tier::Host && !readsArgument(kernel, index))
    return copies.reserve(value, launch);
  return copies.copyTo(value, tier, launch);
}

void Inserter::visitWrite(WriteOp write) {
  auto buffer = symbols.lookup<BufferOp>(write.getSymbol());
  const Tier tier = buffer ? buffer.getHomeTier() : Tier::Device;
  Value value = write.getValue();
  if (copies.tierOf(value) == tier)
    return;
  OpBuilder builder(write);
  Value before =
      ReadOp::create(builder, write.getLoc(), value.getType(), write.getSymbolAttr()).getResult();
  setSchedule(before.getDefiningOp(), scheduleOf(write).beside());
  copies.setTier(before, tier);
  write.getValueMutable().assign(copies.transferOver(value, tier, before, write));
}

/// The readers of `value` under any shape, those in forward left out if it `isForward`.
void Inserter::collectLateReaders(Value value, bool isForward,
                                  SmallVectorImpl<OpOperand *> &readers) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (!isForward || !forward.contains(user))
      readers.push_back(&use);
    else if (isReshape(user))
      collectLateReaders(user->getResult(0), isForward, readers);
  }
}

/// Moves `value` to `tier` after its definition. All readers, or those after forward if it belongs
/// to forward, read it there.
void Inserter::keepElsewhere(OpResult value, Tier tier) {
  Operation *op = value.getOwner();
  const bool isForward = forward.contains(op);
  SmallVector<OpOperand *> readers;
  collectLateReaders(value, isForward, readers);
  if (readers.empty())
    return;
  Value kept = copies.copyTo(value, tier, op->getNextNode());
  for (Operation *hop = kept.getDefiningOp(); hop != op; hop = hop->getOperand(0).getDefiningOp())
    setSchedule(hop, scheduleOf(op).beside());
  if (isForward)
    saved.insert(kept);
  for (OpOperand *use : readers) {
    OpBuilder builder(use->getOwner());
    Value shaped = viewLike(use->get(), value, kept, builder);
    copies.setTier(shaped, tier);
    use->set(shaped);
  }
}

/// The result of the last launch that accumulates in a copy is transferred back for the next
/// iteration; readers of the sum after all iterations find it there.
void Inserter::storeSum(LaunchOp launch) {
  Value sum = launch->getNumResults() ? launch.getResult(0) : Value();
  Value accumulator = sum ? copies.originalOf(sum) : Value();
  if (!accumulator || scheduleOf(launch).iterations != Iterations::Later)
    return;
  Value stored =
      copies.transfer(sum, copies.tierOf(accumulator), accumulator, launch->getNextNode());
  setSchedule(stored.getDefiningOp(), scheduleOf(launch).beside());
  sum.replaceUsesWithIf(stored, [&](OpOperand &use) {
    return use.getOwner() != stored.getDefiningOp() && isIn(use.getOwner(), Segment::Epilogue);
  });
}

/// Gives every fetch of a state a separate read, as partition creates them, even if CSE has merged
/// the reads: forward and backward fetch a parameter separately, and nothing is kept between them.
void Inserter::splitReads() {
  for (auto read : llvm::make_early_inc_range(step.getBody().getOps<ReadOp>())) {
    SmallVector<Operation *> fetches(llvm::make_filter_range(
        read.getResult().getUsers(), [](Operation *op) { return isFetch(op); }));
    llvm::sort(fetches, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *fetch : ArrayRef(fetches).drop_front(fetches.empty() ? 0 : 1)) {
      Operation *own = OpBuilder(fetch).clone(*read);
      fetch->replaceUsesOfWith(read.getResult(), own->getResult(0));
    }
  }
}

void Inserter::run() {
  splitReads();
  Operation *next = nullptr;
  for (Operation *op = &step.getBody().front().front(); op; op = next) {
    next = op->getNextNode();
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (auto buffer = symbols.lookup<BufferOp>(read.getSymbol()))
        copies.setTier(read.getResult(), buffer.getHomeTier());
    } else if (isView(op)) {
      copies.setTier(op->getResult(0), copies.tierOf(op->getOperand(0)));
    } else if (auto launch = dyn_cast<LaunchOp>(op)) {
      visitLaunch(launch);
      storeSum(launch);
    } else if (auto transfer = dyn_cast<TransferOp>(op)) {
      copies.setTier(transfer.getResult(), transfer.getTier());
    } else if (auto write = dyn_cast<WriteOp>(op)) {
      visitWrite(write);
    } else {
      for (OpOperand &operand : op->getOpOperands())
        if (copies.tierOf(operand.get()) != Tier::Device)
          operand.set(copies.bring(operand.get(), Tier::Device, op));
    }
    for (OpResult result : op->getResults())
      if (Tier tier = keptTier(op, result.getResultNumber()); tier != Tier::Device)
        keepElsewhere(result, tier);
  }
  // An unused view would still keep its bytes alive.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (isReshape(&op) && op.use_empty())
      op.erase();
}

/// Erases kernels that no launch names, of those that have clones for the host.
static void eraseUnusedKernels(ModuleOp module, func::FuncOp step) {
  llvm::StringSet<> used;
  step.walk([&](LaunchOp launch) { used.insert(launch.getKernel()); });
  SymbolTable symbols(module);
  SmallVector<func::FuncOp> unused;
  for (auto kernel : module.getOps<func::FuncOp>())
    if (auto clone = symbols.lookup<func::FuncOp>(hostKernelName(kernel.getName())))
      for (func::FuncOp each : {kernel, clone})
        if (!used.contains(each.getName()))
          unused.push_back(each);
  for (func::FuncOp kernel : unused)
    symbols.erase(kernel);
}

namespace {
struct InsertTransfers : zero::impl::InsertTransfersBase<InsertTransfers> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    Inserter(getOperation(), *step).run();
    eraseUnusedKernels(getOperation(), *step);
  }
};
} // namespace
