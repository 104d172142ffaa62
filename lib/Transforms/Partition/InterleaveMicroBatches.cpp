//===- InterleaveMicroBatches.cpp - unroll the loop over micro-batches ----===//

#include "MicroBatchParts.h"
#include "dialects/Zero/EvaluationAttrs.h"
#include "dialects/Zero/Mesh.h"
#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Partition/Passes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_INTERLEAVEMICROBATCHES
#include "include/zero/Transforms/Partition/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

/// A sum over micro-batches: kernels that work in place, one after another, in the same bytes.
struct Sum {
  LaunchOp first; ///< runs in the first micro-batch alone
  Value last;     ///< what the bytes hold at the end of an iteration
};

class Interleaver {
public:
  Interleaver(ModuleOp module, func::FuncOp step)
      : step(step), symbols(module), end(findEpilogue(step)), microBatches(microBatchesOf(module)),
        copies(microBatches) {}

  void run();

private:
  void addInputs();
  void list();
  bool varies(Operation *op) const;
  void classify(Operation *op);
  OpOperand *sumOperand(LaunchOp launch);
  Operation *earliestBehind(LaunchOp launch, OpOperand &sum);
  void keepSumsTogether();
  std::vector<bool> joinSums() const;
  void unroll(ArrayRef<Operation *> part);
  void copy(Operation *op, int64_t microBatch);
  void skip(LaunchOp launch, int64_t microBatch);
  void finishPrologue();
  void eraseOriginals();

  func::FuncOp step;
  SymbolTable symbols;
  Operation *end; ///< the first op behind all micro-batches
  int64_t microBatches;
  std::vector<Operation *> prologue, body;
  llvm::DenseSet<Value> varying; ///< values that differ between micro-batches
  SmallVector<Sum> sums;
  llvm::DenseMap<Value, size_t> sumOf; ///< of each value that one of them holds
  std::vector<IRMapping> copies;       ///< of each micro-batch
  SmallVector<Operation *> copied;     ///< the ops that they are copies of
};

} // namespace

/// Adds the later micro-batches' inputs: the user's data, and what numbers the micro-batch.
void Interleaver::addInputs() {
  const unsigned count = step.getNumArguments();
  Builder builder(step.getContext());
  for (unsigned index = 0; index < count; ++index) {
    StringRef name = argumentBinding(step, index);
    if (llvm::is_contained({kLearningRate, kStepNumber, kTraining}, name) ||
        name.starts_with(kCoordinatePrefix))
      continue;
    BlockArgument argument = step.getArgument(index);
    varying.insert(argument);
    for (int64_t microBatch = 1; microBatch < microBatches; ++microBatch) {
      Value added = addArgument(step, argument.getType(), name);
      const unsigned place = step.getNumArguments() - 1;
      step.setArgAttr(place, kMicroBatchAttr, builder.getI64IntegerAttr(microBatch));
      if (step.getArgAttr(index, kTokensAttr))
        step.setArgAttr(place, kTokensAttr, builder.getUnitAttr());
      copies[microBatch].map(argument, added);
    }
  }
}

/// The operand in whose bytes `launch` updates a sum over micro-batches, or null.
OpOperand *Interleaver::sumOperand(LaunchOp launch) {
  const bool begins = scheduleOf(launch).iterations == Iterations::First;
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  for (OpOperand &operand : launch->getOpOperands())
    if (kernel && operand.getOperandNumber() < launch.getInputs().size() &&
        kernel.getArgAttr(operand.getOperandNumber(), kInplaceAttr) &&
        (begins || sumOf.contains(throughReshapes(operand.get()))))
      return &operand;
  return nullptr;
}

/// Whether `op` must run for each micro-batch, or in some of them.
bool Interleaver::varies(Operation *op) const {
  return scheduleOf(op).iterations != Iterations::Every ||
         llvm::any_of(op->getOperands(), [&](Value operand) { return varying.contains(operand); });
}

/// Decides whether the results of `op` differ between micro-batches, and adds it to its sum.
void Interleaver::classify(Operation *op) {
  if (varies(op))
    varying.insert(op->result_begin(), op->result_end());
  auto launch = dyn_cast<LaunchOp>(op);
  OpOperand *sum = launch ? sumOperand(launch) : nullptr;
  if (!sum)
    return;
  auto known = sumOf.find(throughReshapes(sum->get()));
  const size_t number = known == sumOf.end() ? sums.size() : known->second;
  if (number == sums.size())
    sums.push_back({launch, Value()});
  sums[number].last = launch.getResult(0);
  sumOf[launch.getResult(0)] = number;
}

/// Lists the ops of the prologue, with views, constants and state that they read, and of the body.
void Interleaver::list() {
  llvm::DenseSet<Operation *> early;
  Block &block = step.getBody().front();
  for (Operation *op = end->getPrevNode(); op; op = op->getPrevNode())
    if (isIn(op, Segment::Prologue) ||
        ((isView(op) || !varies(op)) &&
         llvm::any_of(op->getUsers(), [&](Operation *user) { return early.contains(user); })))
      early.insert(op);
  prologue.clear();
  body.clear();
  for (Operation *op = &block.front(); op != end; op = op->getNextNode())
    (early.contains(op) ? prologue : body).push_back(op);
}

/// The op behind which `launch`, which updates `sum`, can run at the earliest: the last that makes
/// an operand or reads the bytes.
Operation *Interleaver::earliestBehind(LaunchOp launch, OpOperand &sum) {
  Operation *last = nullptr;
  auto consider = [&](Operation *op) {
    if (op && op != launch && op->isBeforeInBlock(launch) && (!last || last->isBeforeInBlock(op)))
      last = op;
  };
  for (Value operand : launch->getOperands())
    consider(operand.getDefiningOp());
  for (Operation *user : throughReshapes(sum.get()).getUsers())
    consider(user);
  return last;
}

/// A micro-batch reads what the one before left in a sum, so the ops of a sum must be in one part.
/// Moves the first one down to the first reader of its result, and the others up.
void Interleaver::keepSumsTogether() {
  for (Operation *op : body) {
    auto launch = dyn_cast<LaunchOp>(op);
    OpOperand *sum = launch ? sumOperand(launch) : nullptr;
    if (!sum || scheduleOf(op).iterations == Iterations::First)
      continue;
    if (Operation *behind = earliestBehind(launch, *sum))
      launch->moveAfter(behind);
  }
  for (const Sum &sum : sums) {
    Operation *reader = nullptr;
    for (Operation *user : sum.first->getUsers())
      if (user->getBlock() == sum.first->getBlock() && (!reader || user->isBeforeInBlock(reader)))
        reader = user;
    if (reader && !isIn(sum.first, Segment::Prologue))
      sum.first->moveBefore(reader);
  }
}

/// For each op of the body, whether a sum begins before it and ends behind the op before it.
std::vector<bool> Interleaver::joinSums() const {
  llvm::DenseMap<Operation *, size_t> positions;
  for (auto [index, op] : llvm::enumerate(body))
    positions[op] = index;
  std::vector<int> changes(body.size() + 2);
  for (const Sum &sum : sums) {
    auto begin = positions.find(sum.first), last = positions.find(sum.last.getDefiningOp());
    if (begin == positions.end() || last == positions.end())
      continue;
    ++changes[begin->second + 1];
    --changes[last->second + 1];
  }
  std::vector<bool> joined;
  int open = 0;
  for (size_t index = 0; index < body.size(); ++index)
    joined.push_back((open += changes[index]) > 0);
  return joined;
}

/// A kernel on a sum that does not run leaves there what was there.
void Interleaver::skip(LaunchOp launch, int64_t microBatch) {
  const bool begins = scheduleOf(launch).iterations == Iterations::First;
  Value left = begins ? copies[microBatch - 1].lookup(sums[sumOf.lookup(launch.getResult(0))].last)
                      : copies[microBatch].lookup(sumOperand(launch)->get());
  copies[microBatch].map(launch.getResult(0), left);
}

/// The scalar that says whether the step trains.
static Value trainingArgument(func::FuncOp step) {
  for (BlockArgument argument : step.getArguments())
    if (argumentBinding(step, argument.getArgNumber()) == kTraining)
      return argument;
  return addArgument(step, RankedTensorType::get({}, IntegerType::get(step.getContext(), 1)),
                     kTraining);
}

/// Writes `op` down for a micro-batch. An op that does not vary is written down once.
void Interleaver::copy(Operation *op, int64_t microBatch) {
  const Iterations iterations = scheduleOf(op).iterations;
  if (!varies(op)) {
    if (microBatch == 0) {
      op->moveBefore(end);
      setSchedule(op, {});
    }
    return;
  }
  if (microBatch == 0)
    copied.push_back(op);
  if (!scheduleOf(op).runsIn(microBatch, microBatches)) {
    if (auto launch = dyn_cast<LaunchOp>(op); launch && iterations != Iterations::Last)
      skip(launch, microBatch);
    return;
  }
  Operation *made = OpBuilder(end).clone(*op, copies[microBatch]);
  setSchedule(made, {});
  // The forward of the next micro-batch now reads the result, and with it each evaluation.
  if (auto launch = dyn_cast<LaunchOp>(made); launch && launch->hasAttr(kCarriesAttr))
    launch.getConditionMutable().assign(trainingArgument(step));
  // Only the complete sum waits for its update.
  if (iterations == Iterations::Later && microBatch + 1 < microBatches)
    made->removeAttr(kTierAttr);
}

void Interleaver::unroll(ArrayRef<Operation *> part) {
  for (int64_t microBatch = 0; microBatch < microBatches; ++microBatch)
    for (Operation *op : part)
      copy(op, microBatch);
}

/// All micro-batches read what the last iteration of the prologue left.
void Interleaver::finishPrologue() {
  for (Operation *op : prologue)
    if (isIn(op, Segment::Prologue))
      for (Value result : op->getResults())
        if (Value last = copies.back().lookupOrNull(result))
          for (IRMapping &copy : copies)
            copy.map(result, last);
}

/// The ops behind all micro-batches read what the last iteration left.
void Interleaver::eraseOriginals() {
  for (Operation *op = end; op; op = op->getNextNode())
    for (OpOperand &operand : op->getOpOperands())
      operand.set(copies.back().lookupOrDefault(operand.get()));
  for (Operation *op : llvm::reverse(copied))
    op->erase();
}

void Interleaver::run() {
  addInputs();
  for (Operation *op = &step.getBody().front().front(); op != end; op = op->getNextNode())
    classify(op);
  list();
  keepSumsTogether();
  list();
  const std::vector<bool> joined = joinSums();
  const std::vector<size_t> begins = cutIntoParts({step, body, varying, joined, microBatches});
  unroll(prologue);
  finishPrologue();
  for (size_t i = 0; i < begins.size(); ++i) {
    const size_t next = i + 1 < begins.size() ? begins[i + 1] : body.size();
    unroll(ArrayRef(body).slice(begins[i], next - begins[i]));
  }
  eraseOriginals();
}

namespace {
struct InterleaveMicroBatches : zero::impl::InterleaveMicroBatchesBase<InterleaveMicroBatches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!module->hasAttr(kInterleaveAttr))
      return;
    FailureOr<func::FuncOp> step = findStep(module);
    if (failed(step))
      return signalPassFailure();
    Interleaver(module, *step).run();
    module->removeAttr(kInterleaveAttr);
    module->setAttr(kInterleavedAttr, UnitAttr::get(&getContext()));
  }
};
} // namespace
