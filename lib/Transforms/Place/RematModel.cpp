//===- RematModel.cpp - a step as input of remat planning -----------------===//

#include "zero/Transforms/Place/RematModel.h"
#include "dialects/Zero/Schedule.h"

#include "zero/Analysis/StepOps.h"

using namespace mlir;

namespace zero {

RematModel::RematModel(func::FuncOp step, const Layers &layers, const OpTimes &times)
    : context(step.getContext()), layers(layers) {
  for (Operation &op : step.getBody().front())
    addNode(op, times);
  problem.fates.assign(problem.bytes.size(), planning::RematProblem::Fate::Free);
  problem.boundaries.resize(layers.count());
  for (const LayerValue &value : layers.values()) {
    const int number = numbers.lookup(value.value);
    if (value.isPinned)
      problem.fates[number] = planning::RematProblem::Fate::Saved;
    else if (value.isOverwritten)
      problem.fates[number] = planning::RematProblem::Fate::Goes;
    if (value.crosses())
      problem.boundaries[value.layer].push_back(number);
  }
}

/// A view is represented by its source. State and inputs are always available. Gradients leave as
/// soon as they are computed; their destination depends on the placement.
void RematModel::addNode(Operation &op, const OpTimes &times) {
  if (isa<ReadOp, MemberOp, GradientOp, UpdateOp>(op) || isReshape(&op) ||
      op.hasTrait<OpTrait::ConstantLike>() || isIn(&op, Segment::Epilogue))
    return;
  planning::RematProblem::Node node;
  node.seconds = times.seconds(&op);
  node.forward = layers.forward().contains(&op);
  node.layer = isa<ActivationOpInterface>(op) ? int(layers.layerOf(&op)) : -1;
  for (Value operand : op.getOperands())
    if (auto it = numbers.find(throughViews(operand)); it != numbers.end())
      node.reads.push_back(it->second);
  for (Value result : op.getResults()) {
    if (!isa<RankedTensorType>(result.getType()))
      continue;
    numbers[result] = int(problem.bytes.size());
    node.writes.push_back(int(problem.bytes.size()));
    problem.bytes.push_back(tensorBytes(result.getType()));
  }
  problem.nodes.push_back(std::move(node));
}

planning::Kept RematModel::keptOf(const ActivationPlan &plan) const {
  planning::Kept kept = planning::keepAll(problem);
  for (auto [value, stays] : llvm::zip_equal(layers.values(), plan.kept)) {
    const int number = numbers.lookup(value.value);
    if (problem.fates[number] == planning::RematProblem::Fate::Free)
      kept[number] = stays;
  }
  return kept;
}

ActivationPlan RematModel::planOf(const planning::Kept &kept) const {
  ActivationPlan plan;
  // The first layer of the run of each: that of the earliest dropped value read.
  std::vector<int64_t> firsts(layers.count());
  for (int64_t layer = 0; layer < layers.count(); ++layer)
    firsts[layer] = layer;
  for (const LayerValue &value : layers.values()) {
    const bool stays = kept[numbers.lookup(value.value)];
    plan.kept.push_back(stays);
    if (!stays)
      for (int64_t layer = value.layer + 1; layer <= value.lastLayer && layer < layers.count();
           ++layer)
        firsts[layer] = std::min(firsts[layer], value.layer);
  }
  for (int64_t last = layers.count() - 1, first; last >= 0; last = first - 1) {
    first = last;
    for (int64_t layer = last; layer >= first; --layer)
      first = std::min(first, firsts[layer]);
    plan.runs.push_back(RunAttr::get(context, first, last, {}));
  }
  return plan;
}

} // namespace zero
