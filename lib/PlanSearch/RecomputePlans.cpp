//===- RecomputePlans.cpp - choices of recomputation ----------------------===//

#include "RecomputePlans.h"

#include "zero/Analysis/StepFunction.h"

using namespace mlir;

namespace zero {

/// The number of budgets that are given to the greedy planner.
static constexpr int kRungs = 24;

namespace {
class PlanLister {
public:
  PlanLister(ModuleOp module, func::FuncOp step, const planning::Machine &machine)
      : context(module.getContext()), layers(module, step),
        model(step, layers, OpTimes(module, machine)), turns(double(microBatchesOf(module))) {}

  std::vector<RecomputePlan> list();

private:
  void add(ActivationPlan activations, const planning::Kept &kept);

  MLIRContext *context;
  Layers layers;
  RematModel model;
  double turns;
  std::vector<RecomputePlan> plans;
};
} // namespace

void PlanLister::add(ActivationPlan activations, const planning::Kept &kept) {
  const planning::RematProblem &problem = model.getProblem();
  plans.push_back({std::move(activations), planning::simulate(problem, kept).seconds * turns,
                   planning::savedBytes(problem, kept)});
}

std::vector<RecomputePlan> PlanLister::list() {
  for (const planning::Kept &kept : planning::planLadder(model.getProblem(), kRungs))
    add(model.planOf(kept), kept);
  std::vector<ActivationPlan> whole;
  if (layers.count() > 1) {
    whole.push_back(keepLayerOutputs(context, layers));
    whole.push_back(keepSegments(context, layers));
    for (int64_t slots = layers.count() / 2; slots > 1; slots /= 2)
      whole.push_back(keepSlots(context, layers, slots));
  }
  for (ActivationPlan &activations : whole) {
    planning::Kept kept = model.keptOf(activations);
    add(std::move(activations), kept);
    plans.back().isFlag = &activations == &whole.front(); // --checkpoint=layer
  }
  plans.front().isFlag = true; // --checkpoint=none
  return std::move(plans);
}

std::vector<RecomputePlan> listRecomputePlans(ModuleOp module, func::FuncOp step,
                                              const planning::Machine &machine) {
  return PlanLister(module, step, machine).list();
}

} // namespace zero
