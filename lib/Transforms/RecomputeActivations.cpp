//===- RecomputeActivations.cpp - backward makes activations again --------===//
//
// Applies what was decided about activations: where backward reads what a layer made
// and nobody kept, launches of that layer run again.
//
//===----------------------------------------------------------------------===//

#include "zero/Analysis/Layers.h"
#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace zero {
#define GEN_PASS_DEF_RECOMPUTEACTIVATIONS
#include "include/zero/Transforms/Passes.h.inc"
} // namespace zero

using namespace zero;

namespace {

class Recomputer {
public:
  Recomputer(ModuleOp module, func::FuncOp step)
      : step(step), symbols(module), forward(findForwardOps(step)) {}
  LogicalResult run();
  /// Whether anything runs again, and what.
  bool repeats() const { return numClones > 0; }
  void report() const;

private:
  LogicalResult readLaunches();
  LogicalResult readRuns();
  LogicalResult replaceOperands(Operation *reader);
  LogicalResult open(int64_t run, Operation *before);
  LogicalResult remake(ArrayRef<Value> wanted, Operation *before, int64_t run);
  void clone(LaunchOp launch, Operation *before, int64_t run);
  void forget(int64_t first, int64_t last);
  bool isThere(Value value) const;
  Value newestOf(Value value, OpBuilder &builder) const;
  SmallVector<Value> overwrittenBy(LaunchOp launch) const;
  double flopsOf(LaunchOp launch) const;
  void eraseDeadViews();

  func::FuncOp step;
  SymbolTable symbols;
  llvm::DenseSet<Operation *> forward;
  llvm::DenseMap<Operation *, int64_t> positions;
  llvm::DenseSet<Value> overwritten;         ///< by launches of forward
  SmallVector<SmallVector<LaunchOp>> layers; ///< launches of each
  llvm::DenseMap<Value, int64_t> lastLayers; ///< that read a value forward
  SmallVector<RunAttr> runs;
  SmallVector<bool> isOpen;            ///< of each run: backward has reached it
  SmallVector<int64_t> runOf;          ///< of each layer, or -1
  llvm::DenseMap<Value, Value> newest; ///< what of each value was made last
  int64_t numClones = 0;
  double stepFlops = 0, clonedFlops = 0;
};

} // namespace

/// The layer of what makes `value`; -1 if it belongs to none.
static int64_t layerOf(Operation *op) {
  auto layer = op ? op->getAttrOfType<IntegerAttr>(kLayerAttr) : IntegerAttr();
  return layer ? layer.getInt() : -1;
}

/// The values, reshapes looked through, whose buffers results of `launch` take.
SmallVector<Value> Recomputer::overwrittenBy(LaunchOp launch) const {
  SmallVector<Value> values;
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  for (auto [index, input] : llvm::enumerate(launch.getInputs()))
    if (kernel && kernel.getArgAttr(index, kInplaceAttr))
      values.push_back(throughViews(input));
  return values;
}

double Recomputer::flopsOf(LaunchOp launch) const {
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  auto flops = kernel ? kernel->getAttrOfType<IntegerAttr>(kFlopsAttr) : IntegerAttr();
  return flops ? double(flops.getInt()) : 0;
}

/// Whether `value`, no view, is what forward made of it, when backward reads it.
bool Recomputer::isThere(Value value) const {
  auto launch = value.getDefiningOp<LaunchOp>();
  if (!launch)
    return true;
  if (overwritten.contains(value))
    return false;
  auto kept = launch->getAttrOfType<DenseI64ArrayAttr>(kKeptAttr);
  return layerOf(launch) < 0 ||
         (kept &&
          llvm::is_contained(kept.asArrayRef(), int64_t(cast<OpResult>(value).getResultNumber())));
}

LogicalResult Recomputer::readLaunches() {
  int64_t position = 0;
  for (Operation &op : step.getBody().front()) {
    positions[&op] = position++;
    auto launch = dyn_cast<LaunchOp>(op);
    if (!launch || !forward.contains(&op))
      continue;
    for (Value value : overwrittenBy(launch))
      overwritten.insert(value);
    int64_t layer = layerOf(launch);
    if (layer < 0)
      continue;
    if (layer + 1 < int64_t(layers.size()))
      return launch.emitError() << "expected layer " << layers.size() - 1 << " or a later one, got "
                                << layer;
    layers.resize(layer + 1);
    layers[layer].push_back(launch);
    for (Value input : launch.getInputs())
      lastLayers[throughViews(input)] = layer;
  }
  return success();
}

LogicalResult Recomputer::readRuns() {
  runOf.resize(layers.size(), -1);
  for (auto run : step->getAttrOfType<ArrayAttr>(kRunsAttr).getAsRange<RunAttr>()) {
    ArrayRef<int64_t> advances = run.getAdvances();
    bool isLegal = run.getFirst() >= 0 && run.getFirst() <= run.getLast() &&
                   run.getLast() < int64_t(layers.size()) && advances.size() % 2 == 0;
    for (size_t i = 0; isLegal && i < advances.size(); i += 2)
      isLegal = advances[i] >= 0 && advances[i] <= advances[i + 1] &&
                advances[i + 1] < int64_t(layers.size());
    if (!isLegal)
      return step.emitError() << "expected a run of layers 0 to " << int64_t(layers.size()) - 1
                              << ", got " << run;
    for (int64_t layer = run.getFirst(); layer <= run.getLast(); ++layer)
      runOf[layer] = runs.size();
    runs.push_back(run);
  }
  isOpen.resize(runs.size());
  return success();
}

/// What was made of layers `first` to `last` counts no more.
void Recomputer::forget(int64_t first, int64_t last) {
  for (int64_t layer = first; layer <= last; ++layer)
    for (LaunchOp launch : layers[layer])
      for (Value result : launch.getResults())
        newest.erase(result);
}

/// What stands for `value` now; views of it are built anew.
Value Recomputer::newestOf(Value value, OpBuilder &builder) const {
  Value made = newest.lookup(throughViews(value));
  if (!made)
    return value;
  SmallVector<Operation *> views;
  for (Value base = throughViews(value); value != base; value = views.back()->getOperand(0))
    views.push_back(value.getDefiningOp());
  for (Operation *view : llvm::reverse(views)) {
    IRMapping mapping;
    mapping.map(view->getOperand(0), made);
    made = builder.clone(*view, mapping)->getResult(0);
  }
  return made;
}

void Recomputer::clone(LaunchOp launch, Operation *before, int64_t run) {
  OpBuilder builder(before);
  SmallVector<Value> inputs = llvm::map_to_vector(
      launch.getInputs(), [&](Value input) { return newestOf(input, builder); });
  auto copy = cast<LaunchOp>(builder.clone(*launch));
  copy.getInputsMutable().assign(inputs);
  copy->removeAttr(kKeptAttr);
  copy->setAttr(kRecomputeAttr, builder.getI64IntegerAttr(run));
  for (Value value : overwrittenBy(launch))
    newest.erase(value);
  for (auto [result, again] : llvm::zip_equal(launch.getResults(), copy.getResults()))
    newest[result] = again;
  ++numClones;
  clonedFlops += flopsOf(launch);
}

/// Runs again what makes `wanted`, in the order of forward, from what is there.
LogicalResult Recomputer::remake(ArrayRef<Value> wanted, Operation *before, int64_t run) {
  llvm::SetVector<Operation *> needed;
  auto need = [&](Value value) {
    value = throughViews(value);
    if (!isThere(value) && !newest.contains(value))
      needed.insert(value.getDefiningOp());
  };
  llvm::for_each(wanted, need);
  for (size_t i = 0; i < needed.size(); ++i)
    llvm::for_each(needed[i]->getOperands(), need);
  SmallVector<Operation *> order = needed.takeVector();
  llvm::sort(order,
             [&](Operation *a, Operation *b) { return positions.lookup(a) < positions.lookup(b); });
  for (Operation *op : order) {
    auto launch = cast<LaunchOp>(op);
    if (launch.getCondition() || op->hasAttr(kWhenAttr) || op->hasAttr(kPrologueAttr))
      return op->emitError("expected a launch that runs in each micro-batch to be run again");
    clone(launch, before, run);
  }
  return success();
}

/// Makes what layers outside of a run give it, before backward reads its first value.
LogicalResult Recomputer::open(int64_t run, Operation *before) {
  isOpen[run] = true;
  ArrayRef<int64_t> advances = runs[run].getAdvances();
  for (size_t i = 0; i < advances.size(); i += 2) {
    const int64_t first = advances[i], last = advances[i + 1];
    forget(first, last);
    SmallVector<Value> outputs;
    for (int64_t layer = first; layer <= last; ++layer)
      for (LaunchOp launch : layers[layer])
        for (Value result : launch.getResults())
          if (auto it = lastLayers.find(result); it != lastLayers.end() && it->second > last)
            outputs.push_back(result);
    if (failed(remake(outputs, before, run)))
      return failure();
  }
  forget(runs[run].getFirst(), runs[run].getLast());
  return success();
}

LogicalResult Recomputer::replaceOperands(Operation *reader) {
  OpBuilder builder(reader);
  for (OpOperand &operand : reader->getOpOperands()) {
    Value value = throughViews(operand.get());
    if (isThere(value))
      continue;
    Operation *producer = value.getDefiningOp();
    const int64_t layer = layerOf(producer);
    bool isBackward = !reader->hasAttr(kPrologueAttr) && !reader->hasAttr(kEpilogueAttr) &&
                      !reader->hasAttr(kWhenAttr) && !reader->hasTrait<OpTrait::IsTerminator>();
    if (layer < 0 || runOf[layer] < 0 || !isBackward) {
      InFlightDiagnostic error = producer->emitError()
                                 << "expected " << (isBackward ? "a run of its layer" : kKeptAttr)
                                 << " for a value that is read after forward";
      error.attachNote(reader->getLoc()) << "read here";
      return error;
    }
    const int64_t run = runOf[layer];
    if (!isOpen[run] && failed(open(run, reader)))
      return failure();
    if (!newest.contains(value) && failed(remake(value, reader, run)))
      return failure();
    operand.set(newestOf(operand.get(), builder));
  }
  return success();
}

/// A view that nobody reads would still keep its bytes alive.
void Recomputer::eraseDeadViews() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (isView(&op) && op.use_empty())
      op.erase();
}

void Recomputer::report() const {
  remark::passed(step->getLoc(), remark::RemarkOpts::name("again").category("activations"))
      << llvm::formatv("{0} launches run again, {1:f1} % more operations in a step", numClones,
                       100 * clonedFlops / std::max(stepFlops, 1.0))
             .str();
}

LogicalResult Recomputer::run() {
  if (failed(readLaunches()) || failed(readRuns()))
    return failure();
  for (Operation &op : llvm::make_early_inc_range(step.getBody().front())) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      stepFlops += flopsOf(launch);
    if (!forward.contains(&op) && !isView(&op) && failed(replaceOperands(&op)))
      return failure();
  }
  eraseDeadViews();
  for (LaunchOp launch : step.getBody().getOps<LaunchOp>())
    launch->removeAttr(kKeptAttr);
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
