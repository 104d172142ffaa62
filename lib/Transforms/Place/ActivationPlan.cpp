//===- ActivationPlan.cpp - choices of saved activations ------------------===//

#include "zero/Transforms/Place/ActivationPlan.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace zero {

/// Whether `value` stays if a plan keeps it, as it says with `kept`.
static bool stays(const LayerValue &value, bool kept) {
  return value.isPinned || (kept && !value.isOverwritten);
}

ActivationPlan keepLayerOutputs(MLIRContext *context, const Layers &layers) {
  ActivationPlan plan;
  for (const LayerValue &value : layers.values())
    plan.kept.push_back(value.crosses());
  for (int64_t layer = 0; layer < layers.count(); ++layer)
    plan.runs.push_back(RunAttr::get(context, layer, layer, {}));
  return plan;
}

int64_t keptBytes(const Layers &layers, const ActivationPlan *plan) {
  int64_t bytes = 0;
  for (auto [index, value] : llvm::enumerate(layers.values()))
    if (plan ? stays(value, plan->kept[index]) : value.isSaved)
      bytes += value.bytes;
  return bytes;
}

void writeActivationPlan(func::FuncOp step, const Layers &layers, const ActivationPlan &plan) {
  Builder builder(step.getContext());
  llvm::DenseMap<Operation *, SmallVector<int64_t>> kept;
  for (auto [index, value] : llvm::enumerate(layers.values()))
    if (stays(value, plan.kept[index]))
      kept[value.value.getDefiningOp()].push_back(cast<OpResult>(value.value).getResultNumber());
  for (auto op : step.getBody().getOps<ActivationOpInterface>())
    if (int64_t layer = layers.layerOf(op); layer >= 0) {
      op.setLayerAttr(builder.getI64IntegerAttr(layer));
      op.setKeptAttr(builder.getDenseI64ArrayAttr(kept.lookup(op)));
    }
  SmallVector<Attribute> runs(plan.runs.begin(), plan.runs.end());
  step->setAttr(kRunsAttr, builder.getArrayAttr(runs));
}

} // namespace zero
