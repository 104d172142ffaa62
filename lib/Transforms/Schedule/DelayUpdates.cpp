//===- DelayUpdates.cpp - move updates into the next step -----------------===//

#include "StepOrder.h"

#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/UpdateAttrs.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Schedule/Passes.h"
#include "zero/Transforms/Step/StepGradients.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_DELAYUPDATES
#include "include/zero/Transforms/Schedule/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

/// An update with all that moves into the next step.
struct Delayed {
  LaunchOp update;
  /// The update, what follows from it, and the transfers and views of state that these read.
  llvm::SetVector<Operation *> ops;
  llvm::SmallSetVector<StringAttr, 4> symbols; ///< that `ops` write
  Operation *before = nullptr;                 ///< the first op that reads one of them
};

class Delayer {
public:
  Delayer(ModuleOp module, func::FuncOp step);

  /// Delays the updates that can be delayed. Returns the others and the ops that prevent it.
  SmallVector<std::pair<LaunchOp, Operation *>> run();

private:
  Operation *collect(Delayed &delayed) const;
  Operation *collectResults(Delayed &delayed) const;
  Operation *collectState(Operation *op, Delayed &delayed) const;
  bool isState(Operation *op, const Delayed &delayed) const;
  Operation *findReader(Delayed &delayed) const;
  void moveViews(Operation *op, Operation *before) const;
  void move(Delayed &delayed);
  StringAttr accumulatorOf(Value value) const;
  StringAttr keep(Value value, Role role, StringRef name);
  Value carried(Value value, Role role, StringRef name, Operation *user);
  Value operandFor(OpOperand &operand, const Delayed &delayed);

  ModuleOp module;
  func::FuncOp step;
  SymbolTable symbols;
  int64_t microBatches;
  const StepOrder order; ///< before anything moves
  llvm::MapVector<StringAttr, SmallVector<ReadOp>> reads;
  llvm::DenseMap<Value, ReadOp> kept; ///< by value: what the step before left of it
};

} // namespace

/// Marks `op`, which runs in `iterations` of the micro-batches.
static void delay(Operation *op, Iterations iterations) {
  setSchedule(op, {Segment::MicroBatch, iterations});
  op->setAttr(kDelayedAttr, UnitAttr::get(op->getContext()));
}

Delayer::Delayer(ModuleOp module, func::FuncOp step)
    : module(module), step(step), symbols(module), microBatches(iterationsOf(module)), order(step) {
  for (auto read : step.getBody().getOps<ReadOp>())
    reads[read.getSymbolAttr().getAttr()].push_back(read);
}

/// Collects what follows from the update: views, transfers to the tiers of state, gathers of the
/// new slices, and writes. Returns a user that is none of these, or null.
Operation *Delayer::collectResults(Delayed &delayed) const {
  for (size_t index = 0; index < delayed.ops.size(); ++index)
    for (Operation *user : delayed.ops[index]->getUsers()) {
      const bool follows =
          isView(user) || isa<WriteOp>(user) || isa<TransferOp>(user) || gathers(user);
      if (!follows || !isIn(user, Segment::Epilogue))
        return user;
      delayed.ops.insert(user);
      if (auto write = dyn_cast<WriteOp>(user))
        delayed.symbols.insert(write.getSymbolAttr().getAttr());
    }
  return nullptr;
}

/// Whether `op` yields state of the update: what is read of a symbol that the update alone writes,
/// on any tier, or bytes on the host for it.
bool Delayer::isState(Operation *op, const Delayed &delayed) const {
  if (auto read = dyn_cast<ReadOp>(op))
    return delayed.symbols.contains(read.getSymbolAttr().getAttr());
  if (isa<ReserveOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return true;
  Operation *producer =
      isView(op) || isa<TransferOp>(op) ? op->getOperand(0).getDefiningOp() : nullptr;
  return producer && isState(producer, delayed);
}

/// Adds the commands that bring the state that `op` reads. Returns the producer of an operand that
/// is neither state nor a value that may be kept for the next step: the gradient or a scalar.
Operation *Delayer::collectState(Operation *op, Delayed &delayed) const {
  auto launch = dyn_cast<LaunchOp>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *producer = operand.get().getDefiningOp();
    if (!producer || delayed.ops.contains(producer))
      continue;
    if (isState(producer, delayed)) {
      if (!hasNoCommand(producer))
        delayed.ops.insert(producer);
      if (Operation *stays = collectState(producer, delayed))
        return stays;
      continue;
    }
    const bool isGradient = launch && launch.getGradient() == operand.getOperandNumber();
    if (!isGradient && cast<RankedTensorType>(operand.get().getType()).getRank() > 0)
      return producer;
  }
  return nullptr;
}

/// An op outside of `delayed` that reads a result of `op`, or null.
static Operation *findStranger(Operation *op, const Delayed &delayed) {
  for (Operation *user : op->getUsers())
    if (!delayed.ops.contains(user))
      if (Operation *found = isView(user) ? findStranger(user, delayed) : user)
        return found;
  return nullptr;
}

/// Finds where forward first reads what the update writes. Returns an op that reads it in the
/// prologue or the epilogue, or null.
Operation *Delayer::findReader(Delayed &delayed) const {
  SmallVector<Operation *> work;
  for (StringAttr symbol : delayed.symbols)
    if (auto found = reads.find(symbol); found != reads.end())
      llvm::append_range(work, found->second);
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers()) {
      if (delayed.ops.contains(user))
        continue;
      if (isView(user)) {
        work.push_back(user);
        continue;
      }
      if (!isIn(user, Segment::MicroBatch))
        return user;
      if (!delayed.before || order.positionOf(user) < order.positionOf(delayed.before))
        delayed.before = user;
    }
  return nullptr;
}

/// Fills `delayed`, or returns the op that prevents it.
Operation *Delayer::collect(Delayed &delayed) const {
  delayed.ops.insert(delayed.update);
  if (Operation *stays = collectResults(delayed))
    return stays;
  for (Operation *op : SmallVector<Operation *>(delayed.ops.getArrayRef()))
    if (Operation *stays = collectState(op, delayed))
      return stays;
  for (Operation *op : delayed.ops)
    if (Operation *stays = findStranger(op, delayed))
      return stays;
  if (Operation *stays = findReader(delayed))
    return stays;
  return delayed.before ? nullptr : delayed.update;
}

/// The tier of `value`, which is no view.
static Tier tierOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto transfer = dyn_cast_or_null<TransferOp>(op))
    return transfer.getTier();
  auto launch = dyn_cast_or_null<LaunchOp>(op);
  return launch && launch.getHost() ? Tier::Host : Tier::Device;
}

/// The accumulator that keeps `value` until the next step, or null.
StringAttr Delayer::accumulatorOf(Value value) const {
  auto isAccumulator = [&](FlatSymbolRefAttr symbol) {
    auto buffer = symbols.lookup<BufferOp>(symbol.getAttr());
    return buffer && buffer.getRole() == Role::Accumulator;
  };
  if (auto read = value.getDefiningOp<ReadOp>(); read && isAccumulator(read.getSymbolAttr()))
    return read.getSymbolAttr().getAttr();
  for (Operation *user : value.getUsers())
    if (auto write = dyn_cast<WriteOp>(user); write && isAccumulator(write.getSymbolAttr()))
      return write.getSymbolAttr().getAttr();
  return {};
}

/// Makes a buffer of `role` that this step sets to `value`. A transfer moves it there by itself.
StringAttr Delayer::keep(Value value, Role role, StringRef name) {
  auto type = cast<RankedTensorType>(value.getType());
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto buffer = BufferOp::create(builder, module.getLoc(), role, freeName(symbols, name), type,
                                 /*shards=*/1, tierOf(value));
  symbols.insert(buffer);
  const auto symbol = FlatSymbolRefAttr::get(buffer.getSymNameAttr());
  if (auto transfer = value.getDefiningOp<TransferOp>(); transfer && !transfer.getInto()) {
    builder.setInsertionPoint(transfer);
    Value place = ReadOp::create(builder, transfer.getLoc(), type, symbol);
    setSchedule(place.getDefiningOp(), scheduleOf(transfer).beside());
    transfer.getIntoMutable().assign(place);
  }
  // Behind all other readers of the value, which then is that of the buffer.
  builder.setInsertionPoint(step.getBody().front().getTerminator());
  setSegment(WriteOp::create(builder, value.getLoc(), symbol, value), Segment::Epilogue);
  return buffer.getSymNameAttr();
}

/// What the step before left of `value`, for `user`. All users have one read, as for a condition.
Value Delayer::carried(Value value, Role role, StringRef name, Operation *user) {
  Value base = throughViews(value);
  ReadOp &read = kept[base];
  if (!read) {
    StringAttr symbol = accumulatorOf(base);
    if (!symbol)
      symbol = keep(base, role, name);
    OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody().front());
    read = ReadOp::create(builder, value.getLoc(), base.getType(), symbol);
  }
  OpBuilder builder(user);
  return viewLike(value, base, read.getResult(), builder);
}

/// Moves `op`, which has no command, and the views of it that are before `before`, to there.
void Delayer::moveViews(Operation *op, Operation *before) const {
  if (order.positionOf(op) > order.positionOf(before))
    return;
  op->moveBefore(before);
  const SmallVector<Operation *> users(op->getUsers());
  for (Operation *user : llvm::reverse(users))
    if (isView(user))
      moveViews(user, before);
}

/// `value` for `user`, a delayed op, from copies of the reads, views and constants that make it.
static Value copyFor(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  if (!op || !hasNoCommand(op))
    return value;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(copyFor(operand, user));
  Operation *copy = OpBuilder(user).clone(*op);
  copy->setOperands(operands);
  delay(copy, Iterations::Every);
  return copy->getResult(cast<OpResult>(value).getResultNumber());
}

/// Operand `operand` of a delayed op.
Value Delayer::operandFor(OpOperand &operand, const Delayed &delayed) {
  const Value value = operand.get();
  Operation *producer = value.getDefiningOp(), *op = operand.getOwner();
  if (producer && (delayed.ops.contains(producer) || isState(producer, delayed)))
    return copyFor(value, op);
  auto launch = dyn_cast<LaunchOp>(op);
  if (launch && launch.getGradient() == operand.getOperandNumber())
    return carried(value, Role::Accumulator, (*launch.getUpdates() + ".gradient.delayed").str(),
                   op);
  const std::string name = producer ? displayName(producer) : "input";
  return carried(value, Role::Buffer, name + ".delayed", op);
}

/// Moves the ops before the first reader, and other reads of what they write behind them.
void Delayer::move(Delayed &delayed) {
  SmallVector<Operation *> ops(delayed.ops.getArrayRef());
  llvm::sort(ops,
             [&](Operation *a, Operation *b) { return order.positionOf(a) < order.positionOf(b); });
  for (Operation *op : ops) {
    op->moveBefore(delayed.before);
    const bool runs = isa<WriteOp, LaneOpInterface>(op);
    delay(op, microBatches > 1 && runs ? Iterations::First : Iterations::Every);
  }
  for (Operation *op : ops)
    for (OpOperand &operand : op->getOpOperands())
      operand.set(operandFor(operand, delayed));
  for (StringAttr symbol : delayed.symbols)
    for (ReadOp read : reads[symbol])
      moveViews(read, delayed.before);
}

SmallVector<std::pair<LaunchOp, Operation *>> Delayer::run() {
  SmallVector<Delayed> all;
  SmallVector<std::pair<LaunchOp, Operation *>> stay;
  for (auto launch : step.getBody().getOps<LaunchOp>()) {
    if (!launch.getUpdates() || !launch.getHost() || !isIn(launch, Segment::Epilogue))
      continue;
    Delayed &delayed = all.emplace_back();
    delayed.update = launch;
    if (Operation *reason = collect(delayed)) {
      all.pop_back();
      stay.emplace_back(launch, reason);
    }
  }
  llvm::stable_sort(all, [&](const Delayed &a, const Delayed &b) {
    return order.positionOf(a.before) < order.positionOf(b.before);
  });
  for (Delayed &delayed : all)
    move(delayed);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (hasNoCommand(&op) && op.use_empty())
      op.erase();
  return stay;
}

namespace {
struct DelayUpdates : zero::impl::DelayUpdatesBase<DelayUpdates> {
  using DelayUpdatesBase::DelayUpdatesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    auto stay = Delayer(module, *step).run();
    if (quiet || stay.empty())
      return;
    auto [update, reason] = stay.front();
    remark::missed(update.getLoc(), remark::RemarkOpts::name("delay").category("offload"))
        << std::to_string(stay.size()) + " updates run at the end of their step, because of '" +
               displayName(reason) + "'";
  }
};
} // namespace
