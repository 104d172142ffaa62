//===- LayerRuns.cpp - activation choices read from attributes ------------===//

#include "zero/Transforms/Place/LayerRuns.h"

#include "zero/Analysis/ParameterUses.h"
#include "zero/Analysis/StepOps.h"

using namespace mlir;

namespace zero {

int64_t layerOf(Operation *op) {
  auto activation = dyn_cast_or_null<ActivationOpInterface>(op);
  IntegerAttr layer = activation ? activation.getLayerAttr() : IntegerAttr();
  return layer ? layer.getInt() : -1;
}

LayerRuns::LayerRuns(ModuleOp module, func::FuncOp step)
    : step(step), symbols(module), forward(findForwardOps(step)) {}

LogicalResult LayerRuns::read() {
  if (failed(readLaunches()) || failed(readRuns()))
    return failure();
  findBeginnings();
  return success();
}

SmallVector<Value> LayerRuns::overwrittenBy(Operation *op) const {
  return zero::overwrittenBy(op, symbols);
}

double LayerRuns::flopsOf(Operation *op) const {
  auto launch = dyn_cast<LaunchOp>(op);
  auto kernel = launch ? symbols.lookup<func::FuncOp>(launch.getKernel()) : func::FuncOp();
  auto flops = kernel ? kernel->getAttrOfType<IntegerAttr>(kFlopsAttr) : IntegerAttr();
  return flops ? double(flops.getInt()) : 0;
}

bool LayerRuns::isThere(Value value) const {
  auto op = value.getDefiningOp<ActivationOpInterface>();
  if (!op)
    return true;
  if (overwritten.contains(value))
    return false;
  DenseI64ArrayAttr kept = op.getKeptAttr();
  return layerOf(op) < 0 ||
         (kept &&
          llvm::is_contained(kept.asArrayRef(), int64_t(cast<OpResult>(value).getResultNumber())));
}

LogicalResult LayerRuns::readLaunches() {
  int64_t position = 0;
  for (Operation &op : step.getBody().front()) {
    positions[&op] = position++;
    auto activation = dyn_cast<ActivationOpInterface>(op);
    if (!activation || !isForward(&op))
      continue;
    for (Value value : overwrittenBy(&op))
      overwritten.insert(value);
    int64_t layer = layerOf(&op);
    if (layer < 0)
      continue;
    if (layer + 1 < int64_t(layers.size()))
      return activation.emitError()
             << "expected layer " << layers.size() - 1 << " or a later one, got " << layer;
    layers.resize(layer + 1);
    layers[layer].push_back(activation);
    for (Value operand : op.getOperands())
      lastLayers[throughViews(operand)] = layer;
  }
  return success();
}

LogicalResult LayerRuns::readRuns() {
  const int64_t count = layers.size();
  runOfLayer.resize(count, -1);
  for (auto run : step->getAttrOfType<ArrayAttr>(kRunsAttr).getAsRange<RunAttr>()) {
    ArrayRef<int64_t> advances = run.getAdvances();
    auto isRange = [&](int64_t first, int64_t last) {
      return first >= 0 && first <= last && last < count;
    };
    bool isLegal = isRange(run.getFirst(), run.getLast()) && advances.size() % 2 == 0;
    for (size_t i = 0; isLegal && i < advances.size(); i += 2)
      isLegal = isRange(advances[i], advances[i + 1]);
    if (!isLegal)
      return step.emitError() << "expected a run of layers 0 to " << count - 1 << ", got " << run;
    for (int64_t layer = run.getFirst(); layer <= run.getLast(); ++layer)
      runOfLayer[layer] = allRuns.size();
    allRuns.push_back(run);
  }
  return success();
}

void LayerRuns::findBeginnings() {
  llvm::DenseMap<int64_t, int64_t> runEndingAt; // layer -> run
  for (auto [index, run] : llvm::enumerate(allRuns))
    if (run.getFirst() < run.getLast() || !run.getAdvances().empty())
      runEndingAt[run.getLast()] = index;
  for (auto &[symbol, use] : findParameterUses(step)) {
    int64_t layer = use.forward.empty() ? -1 : layerOf(use.forward.front());
    auto run = runEndingAt.find(layer);
    // A parameter that several layers share tells nothing.
    if (run == runEndingAt.end() || use.backward.empty() ||
        llvm::any_of(use.forward, [&](Operation *op) { return layerOf(op) != layer; }))
      continue;
    beginnings[use.backward.front()].push_back(run->second);
  }
}

SmallVector<Value> LayerRuns::outputs(int64_t first, int64_t last) const {
  SmallVector<Value> values;
  for (int64_t layer = first; layer <= last; ++layer)
    for (ActivationOpInterface op : layers[layer])
      for (Value result : op->getResults())
        if (auto it = lastLayers.find(result); it != lastLayers.end() && it->second > last)
          values.push_back(result);
  return values;
}

ArrayRef<int64_t> LayerRuns::runsAt(Operation *op) const {
  auto it = beginnings.find(op);
  return it == beginnings.end() ? ArrayRef<int64_t>() : ArrayRef<int64_t>(it->second);
}

} // namespace zero
