//===- RecomputeActivations.cpp - recompute in backward -------------------===//
// Applies the choice of activations: where backward reads a value of a layer that is not saved,
// launches of that layer are cloned.
//===----------------------------------------------------------------------===//

#include "dialects/Zero/Schedule.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Place/LayerRuns.h"
#include "zero/Transforms/Place/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_RECOMPUTEACTIVATIONS
#include "include/zero/Transforms/Place/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

class Recomputer {
public:
  Recomputer(ModuleOp module, func::FuncOp step) : step(step), plan(module, step) {}
  LogicalResult run();
  /// Whether anything is recomputed.
  bool repeats() const { return numClones > 0; }
  void report() const;

private:
  LogicalResult visit(Operation *reader);
  LogicalResult open(int64_t run, Operation *before);
  LogicalResult remake(ArrayRef<Value> wanted, Operation *before, int64_t run);
  void clone(ActivationOpInterface op, Operation *before, int64_t run);
  void forget(int64_t first, int64_t last);
  Value newestOf(Value value, OpBuilder &builder) const;
  void eraseDeadViews();

  func::FuncOp step;
  LayerRuns plan;
  SmallVector<bool> isOpen;            ///< of each run: backward has reached it
  llvm::DenseMap<Value, Value> newest; ///< the most recent copy of each value
  int64_t numClones = 0;
  double stepFlops = 0, clonedFlops = 0;
};

} // namespace

/// Discards the copies of values of layers `first` to `last`.
void Recomputer::forget(int64_t first, int64_t last) {
  for (int64_t layer = first; layer <= last; ++layer)
    for (ActivationOpInterface op : plan.ops(layer))
      for (Value result : op->getResults())
        newest.erase(result);
}

/// The current copy of `value`. Views of it are created again.
Value Recomputer::newestOf(Value value, OpBuilder &builder) const {
  Value base = throughViews(value), made = newest.lookup(base);
  return made ? viewLike(value, base, made, builder) : value;
}

void Recomputer::clone(ActivationOpInterface op, Operation *before, int64_t run) {
  OpBuilder builder(before);
  SmallVector<Value> operands = llvm::map_to_vector(
      op->getOperands(), [&](Value operand) { return newestOf(operand, builder); });
  auto copy = cast<ActivationOpInterface>(builder.clone(*op));
  copy->setOperands(operands);
  copy.removeKeptAttr();
  copy->setAttr(kRecomputeAttr, builder.getI64IntegerAttr(run));
  for (Value value : plan.overwrittenBy(op))
    newest.erase(value);
  for (auto [result, again] : llvm::zip_equal(op->getResults(), copy->getResults()))
    newest[result] = again;
  ++numClones;
  clonedFlops += plan.flopsOf(op);
}

/// Recomputes `wanted` from live values, in the order of forward.
LogicalResult Recomputer::remake(ArrayRef<Value> wanted, Operation *before, int64_t run) {
  llvm::SetVector<Operation *> needed;
  auto need = [&](Value value) {
    value = throughViews(value);
    if (!plan.isThere(value) && !newest.contains(value))
      needed.insert(value.getDefiningOp());
  };
  llvm::for_each(wanted, need);
  for (size_t i = 0; i < needed.size(); ++i)
    llvm::for_each(needed[i]->getOperands(), need);
  SmallVector<Operation *> order = needed.takeVector();
  llvm::sort(order,
             [&](Operation *a, Operation *b) { return plan.position(a) < plan.position(b); });
  for (Operation *op : order) {
    if (!runsAlways(op))
      return op->emitError("expected a recomputed launch to run in each micro-batch");
    clone(cast<ActivationOpInterface>(op), before, run);
  }
  return success();
}

/// Begins a run before backward reads its first value: advances and, for several layers, recomputes
/// the values of other layers that the last one reads.
LogicalResult Recomputer::open(int64_t run, Operation *before) {
  if (isOpen[run])
    return success();
  isOpen[run] = true;
  RunAttr attr = plan.runs()[run];
  ArrayRef<int64_t> advances = attr.getAdvances();
  for (size_t i = 0; i < advances.size(); i += 2) {
    forget(advances[i], advances[i + 1]);
    if (failed(remake(plan.outputs(advances[i], advances[i + 1]), before, run)))
      return failure();
  }
  forget(attr.getFirst(), attr.getLast());
  return remake(plan.outputs(attr.getFirst(), attr.getLast() - 1), before, run);
}

/// Whether `op` runs once for each micro-batch, behind the prologue.
static bool isInBackward(Operation *op) { return scheduleOf(op).isEveryMicroBatch(); }

/// Replaces the operands of `reader`, which is after forward, by their current copies.
LogicalResult Recomputer::visit(Operation *reader) {
  OpBuilder builder(reader);
  for (int64_t run : plan.runsAt(reader))
    if (failed(open(run, reader)))
      return failure();
  for (OpOperand &operand : reader->getOpOperands()) {
    Value value = throughViews(operand.get());
    if (plan.isThere(value))
      continue;
    Operation *producer = value.getDefiningOp();
    const int64_t run = plan.runOf(layerOf(producer));
    if (run < 0 || !isInBackward(reader)) {
      InFlightDiagnostic error = producer->emitError()
                                 << "expected "
                                 << (isInBackward(reader) ? "a run of its layer"
                                                          : "its result in kept")
                                 << " for a value that is read after forward";
      error.attachNote(reader->getLoc()) << "read here";
      return error;
    }
    if (failed(open(run, reader)) ||
        (!newest.contains(value) && failed(remake(value, reader, run))))
      return failure();
    operand.set(newestOf(operand.get(), builder));
  }
  return success();
}

/// An unused view would still keep its bytes alive.
void Recomputer::eraseDeadViews() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (isView(&op) && op.use_empty())
      op.erase();
}

void Recomputer::report() const {
  remark::passed(step->getLoc(), remark::RemarkOpts::name("again").category("activations"))
      << llvm::formatv("{0} launches are recomputed, {1:f1} % more operations in a step", numClones,
                       100 * clonedFlops / std::max(stepFlops, 1.0))
             .str();
}

LogicalResult Recomputer::run() {
  if (failed(plan.read()))
    return failure();
  isOpen.resize(plan.runs().size());
  for (Operation &op : llvm::make_early_inc_range(step.getBody().front())) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      stepFlops += plan.flopsOf(launch);
    if (!plan.isForward(&op) && !isView(&op) && failed(visit(&op)))
      return failure();
  }
  eraseDeadViews();
  for (auto op : step.getBody().getOps<ActivationOpInterface>())
    op.removeKeptAttr();
  step->removeAttr(kRunsAttr);
  return success();
}

namespace {
struct RecomputeActivations : zero::impl::RecomputeActivationsBase<RecomputeActivations> {
  using RecomputeActivationsBase::RecomputeActivationsBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    if (!(*step)->hasAttr(kRunsAttr))
      return;
    Recomputer recomputer(getOperation(), *step);
    if (failed(recomputer.run()))
      return signalPassFailure();
    if (!quiet && recomputer.repeats())
      recomputer.report();
  }
};
} // namespace
