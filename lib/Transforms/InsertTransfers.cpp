//===- InsertTransfers.cpp - what lies elsewhere comes and goes -----------===//

#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/Storage.h"
#include "zero/Transforms/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_INSERTTRANSFERS
#include "include/zero/Transforms/Passes.h.inc"
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

static bool isView(Operation *op) { return isReshape(op) || isa<MemberOp, OwnSliceOp>(op); }

namespace {

/// Walks the step once, in order; knows of each value that is not on the device where it lies.
class Inserter {
public:
  Inserter(ModuleOp module, func::FuncOp step)
      : step(step), symbols(module), forward(findForwardOps(step)) {}

  void run();

private:
  Tier tierOf(Value value) const { return tiers.lookup(value); }
  bool belongsToHost(LaunchOp launch);
  void visitLaunch(LaunchOp launch);
  void visitWrite(WriteOp write);
  void keepElsewhere(Operation *op, Tier tier);
  void storeSum(LaunchOp launch);
  Value transfer(Value value, Tier to, Value into, Operation *before);
  Value copyTo(Value value, Tier to, Operation *before);
  Value reserve(Value like, Operation *before);
  Value bring(Value value, Tier to, Operation *user);

  /// Value, tier, and in which part of the step and turns: later readers there share it.
  using Key = std::tuple<Value, Tier, unsigned>;

  func::FuncOp step;
  SymbolTable symbols;
  llvm::DenseSet<Operation *> forward;
  llvm::DenseMap<Value, Tier> tiers;
  llvm::DenseMap<Key, Value> brought;
  /// Of what a kernel made in place of a copy: what that was a copy of.
  llvm::DenseMap<Value, Value> copied;
};

} // namespace

static bool isOnlyLast(Operation *op) {
  auto when = op->getAttrOfType<StringAttr>(kWhenAttr);
  return when && when.getValue() == "last";
}

/// Outputs are read at the end.
static bool isInEpilogue(Operation *op) {
  return op->hasAttr(kEpilogueAttr) || op->hasTrait<OpTrait::IsTerminator>();
}

/// Lets `op` run in the part of the step and the turns of `like`; in all where that is one of
/// two launches that add up, of which each turn runs one.
static void runWith(Operation *op, Operation *like) {
  if (Attribute value = like->getAttr(kPrologueAttr))
    op->setAttr(kPrologueAttr, value);
  if (isInEpilogue(like))
    op->setAttr(kEpilogueAttr, UnitAttr::get(op->getContext()));
  if (isOnlyLast(like))
    op->setAttr(kWhenAttr, like->getAttr(kWhenAttr));
}

/// What messages call `value`.
static StringAttr nameFor(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto read = dyn_cast<ReadOp>(op))
      return read.getSymbolAttr().getAttr();
    if (auto name = op->getAttrOfType<StringAttr>(kNameAttr))
      return name;
    if (op->getNumOperands() == 0)
      break;
    value = op->getOperand(0);
  }
  return StringAttr::get(value.getContext(), "value");
}

/// One hop, to a neighbour.
Value Inserter::transfer(Value value, Tier to, Value into, Operation *before) {
  OpBuilder builder(before);
  auto made = TransferOp::create(builder, before->getLoc(), value.getType(), value, into,
                                 tierOf(value), to);
  made->setAttr(kNameAttr, nameFor(into ? into : value));
  runWith(made, before);
  tiers[made.getResult()] = to;
  return made.getResult();
}

/// A copy of `value` on `to`, over the host between device and disk.
Value Inserter::copyTo(Value value, Tier to, Operation *before) {
  const Tier from = tierOf(value);
  if (from != Tier::Host && to != Tier::Host && from != to)
    value = transfer(value, Tier::Host, {}, before);
  return transfer(value, to, {}, before);
}

Value Inserter::reserve(Value like, Operation *before) {
  OpBuilder builder(before);
  auto made = ReserveOp::create(builder, before->getLoc(), like.getType(), Tier::Host);
  made->setAttr(kNameAttr, nameFor(like));
  runWith(made, before);
  tiers[made.getResult()] = Tier::Host;
  return made.getResult();
}

/// `value` where `user` finds it. What a kernel made of a copy goes back to what was copied.
Value Inserter::bring(Value value, Tier to, Operation *user) {
  if (tierOf(value) == to)
    return value;
  Value &found = brought[{value, to, 2 * isOnlyLast(user) + isInEpilogue(user)}];
  if (found)
    return found;
  Value original = copied.lookup(value);
  if (!original || tierOf(original) != to)
    return found = copyTo(value, to, user);
  if (tierOf(value) != Tier::Host && to != Tier::Host)
    value = transfer(value, Tier::Host, {}, user);
  return found = transfer(value, to, original, user);
}

/// Whether `launch` works in place on state that lies elsewhere, or reads nothing large
/// that lies on the device.
bool Inserter::belongsToHost(LaunchOp launch) {
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  bool anyElsewhere = false, anyLarge = false;
  for (auto [index, input] : llvm::enumerate(launch.getInputs())) {
    const bool elsewhere = tierOf(input) != Tier::Device;
    anyElsewhere |= elsewhere;
    anyLarge |= !elsewhere && cast<RankedTensorType>(input.getType()).getRank() > 0;
    if (!elsewhere || !kernel.getArgAttr(index, kInplaceAttr))
      continue;
    Value origin = input;
    while (isView(origin.getDefiningOp()))
      origin = origin.getDefiningOp()->getOperand(0);
    auto read = origin.getDefiningOp<ReadOp>();
    auto buffer = read ? symbols.lookup<BufferOp>(read.getSymbol()) : BufferOp();
    if (!buffer || buffer.getRole() != Role::Parameter)
      return true;
  }
  return anyElsewhere && !anyLarge;
}

void Inserter::visitLaunch(LaunchOp launch) {
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  const Tier tier = belongsToHost(launch) ? Tier::Host : Tier::Device;
  if (tier == Tier::Host)
    launch->setAttr(kHostAttr, UnitAttr::get(launch.getContext()));
  for (Value output : launch.getOutputs())
    tiers[output] = tier;
  for (auto [index, input] : llvm::enumerate(launch.getInputs())) {
    Value value = input;
    auto result = kernel.getArgAttrOfType<IntegerAttr>(index, kInplaceAttr);
    if (tierOf(value) == tier) {
      if (Value original = copied.lookup(value); original && result)
        copied[launch.getOutputs()[result.getInt()]] = original;
      continue;
    }
    // What may not run leaves what was there.
    const bool surelyRuns =
        !launch.getCondition() && (!launch->hasAttr(kWhenAttr) || isOnlyLast(launch));
    Value here;
    if (!result)
      here = bring(value, tier, launch);
    else if (surelyRuns && tier == Tier::Host && !readsArgument(kernel, index))
      here = reserve(value, launch);
    else
      here = copyTo(value, tier, launch);
    launch.getInputsMutable()[index].assign(here);
    if (result)
      copied[launch.getOutputs()[result.getInt()]] = value;
  }
}

void Inserter::visitWrite(WriteOp write) {
  auto buffer = symbols.lookup<BufferOp>(write.getSymbol());
  const Tier tier = buffer ? buffer.getHomeTier() : Tier::Device;
  Value value = write.getValue();
  if (tierOf(value) == tier)
    return;
  if (tierOf(value) != Tier::Host && tier != Tier::Host)
    value = transfer(value, Tier::Host, {}, write);
  OpBuilder builder(write);
  Value before =
      ReadOp::create(builder, write.getLoc(), value.getType(), write.getSymbolAttr()).getResult();
  runWith(before.getDefiningOp(), write);
  tiers[before] = tier;
  write.getValueMutable().assign(transfer(value, tier, before, write));
}

/// The result of `op` goes to `tier` behind it; all readers, or those behind forward if it
/// belongs to that, find it there.
void Inserter::keepElsewhere(Operation *op, Tier tier) {
  Value value = op->getResult(0);
  Operation *next = op->getNextNode();
  SmallVector<OpOperand *> readers;
  for (OpOperand &use : value.getUses())
    if (!forward.contains(op) || !forward.contains(use.getOwner()))
      readers.push_back(&use);
  if (readers.empty())
    return;
  Value kept = copyTo(value, tier, next);
  for (Operation *hop = kept.getDefiningOp(); hop != op; hop = hop->getOperand(0).getDefiningOp()) {
    for (StringRef name :
         {StringRef(kPrologueAttr), StringRef(kEpilogueAttr), StringRef(kWhenAttr)})
      hop->removeAttr(name);
    runWith(hop, op);
  }
  for (OpOperand *use : readers)
    use->set(kept);
}

/// What the last launch that adds up made of a copy goes back for the next turn; who reads the
/// sum after all turns finds it there.
void Inserter::storeSum(LaunchOp launch) {
  auto when = launch->getAttrOfType<StringAttr>(kWhenAttr);
  Value sum = launch->getNumResults() ? launch.getResult(0) : Value();
  Value accumulator = sum ? copied.lookup(sum) : Value();
  if (!accumulator || !when || when.getValue() != "later")
    return;
  Value stored = transfer(sum, tierOf(accumulator), accumulator, launch->getNextNode());
  for (StringRef name : {StringRef(kEpilogueAttr), StringRef(kWhenAttr)})
    stored.getDefiningOp()->removeAttr(name);
  sum.replaceUsesWithIf(stored, [&](OpOperand &use) {
    return use.getOwner() != stored.getDefiningOp() && isInEpilogue(use.getOwner());
  });
}

void Inserter::run() {
  Operation *next = nullptr;
  for (Operation *op = &step.getBody().front().front(); op; op = next) {
    next = op->getNextNode();
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (auto buffer = symbols.lookup<BufferOp>(read.getSymbol()))
        tiers[read.getResult()] = buffer.getHomeTier();
    } else if (isView(op)) {
      tiers[op->getResult(0)] = tierOf(op->getOperand(0));
    } else if (auto launch = dyn_cast<LaunchOp>(op)) {
      visitLaunch(launch);
      storeSum(launch);
    } else if (auto transfer = dyn_cast<TransferOp>(op)) {
      tiers[transfer.getResult()] = transfer.getTier();
    } else if (auto write = dyn_cast<WriteOp>(op)) {
      visitWrite(write);
    } else {
      for (OpOperand &operand : op->getOpOperands())
        if (tierOf(operand.get()) != Tier::Device)
          operand.set(bring(operand.get(), Tier::Device, op));
    }
    if (auto tier = op->getAttrOfType<TierAttr>(kTierAttr))
      keepElsewhere(op, tier.getValue());
  }
}

namespace {
struct InsertTransfers : zero::impl::InsertTransfersBase<InsertTransfers> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    Inserter(getOperation(), *step).run();
  }
};
} // namespace
