//===- PlanSearch.cpp - plans that keep a budget --------------------------===//

#include "PlanSearch.h"

#include "Pipelines.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Plan.h"

#include <set>

using namespace mlir;

namespace zero {

/// With --zero=auto: how many sets of parameters are tried that stay whole at stage 3.
static constexpr size_t kPersistentSets = 3;

PlanSearch::PlanSearch(ModuleOp module, const StepOptions &options,
                       const planning::Machine &machine)
    : module(module), options(options), machine(machine) {}

PlanChoice PlanSearch::asked() const {
  PlanChoice choice;
  choice.stage = options.stage;
  choice.ranks = options.ranks;
  choice.persistUnder = options.persistUnder.getValue();
  choice.bucketBytes = options.bucketBytes.getValue();
  return choice;
}

/// Sizes below which parameters may stay whole: a few of those that part them.
static std::vector<uint64_t> persistentSizes(ModuleOp module) {
  std::set<uint64_t> sizes;
  for (auto parameter : module.getOps<ParameterOp>())
    sizes.insert(tensorBytes(parameter.getTensorType()) + 1);
  if (sizes.size() > 1)
    sizes.erase(std::prev(sizes.end())); // all of them: stage 2
  std::vector<uint64_t> all(sizes.begin(), sizes.end()), few{0};
  for (size_t i = 0; i < kPersistentSets && !all.empty(); ++i)
    few.push_back(all[i * all.size() / kPersistentSets]);
  few.erase(std::unique(few.begin(), few.end()), few.end());
  return few;
}

/// With tiles that a planner tries: at the stage that gathers them, with the smallest parameters
/// whole and without.
std::vector<PlanChoice> PlanSearch::tiledPlacements() const {
  PlanChoice choice = asked();
  choice.stage = 3;
  std::vector<PlanChoice> all;
  std::vector<uint64_t> sizes = persistentSizes(module);
  for (uint64_t size : ArrayRef(sizes).take_front(2)) {
    choice.persistUnder = size;
    all.push_back(choice);
  }
  return all;
}

/// Where state may lie: as asked, or with --zero=auto at each stage, and at the third also with
/// small parameters kept whole, which save the most seconds for a byte.
std::vector<PlanChoice> PlanSearch::placements() const {
  if (options.zero != "auto" || options.ranks == 1)
    return {asked()};
  if (module->hasAttr(kTilesAttr))
    return tiledPlacements();
  std::vector<PlanChoice> all;
  for (unsigned stage : {0, 1, 2, 3}) {
    PlanChoice choice = asked();
    choice.stage = stage;
    for (uint64_t size : stage == 3 ? persistentSizes(module) : std::vector<uint64_t>{0}) {
      choice.persistUnder = size;
      all.push_back(choice);
      choice.bucketBytes = asked().bucketBytes / 4;
      all.push_back(choice);
      choice.bucketBytes = asked().bucketBytes;
    }
  }
  return all;
}

LogicalResult PlanSearch::prepare(const PlanSearch *known) {
  FailureOr<func::FuncOp> step = findStep(module);
  if (failed(step))
    return failure();
  if (checkpointMode(options) == "auto")
    ladder = known && known->ladder ? known->ladder
                                    : std::make_shared<const std::vector<RecomputePlan>>(
                                          listRecomputePlans(module, *step, machine));
  for (const PlanChoice &placement : placements())
    if (failed(addPlans(placement)))
      return failure();
  llvm::stable_sort(plans,
                    [](const Plan &a, const Plan &b) { return a.leastSeconds < b.leastSeconds; });
  return success();
}

/// What no step of the same placement takes less than, however its parameters share buckets, which
/// depends on who reads them: updates may find their operands in caches, collectives be fewer.
static double leastSeconds(const StepTime &time, const planning::Machine &machine) {
  const double cached = std::min(1.0, machine.memoryBandwidth / machine.cacheBandwidth);
  return time.total() - (1 - cached) * time.update - time.latency;
}

/// The plans of one placement. The first keeps everything: the others take as long and what they
/// compute again, and hold the same state.
LogicalResult PlanSearch::addPlans(const PlanChoice &placement) {
  Plan first;
  first.choice = placement;
  if (ladder)
    first.choice.activations = &ladder->front().activations;
  FailureOr<Evaluation> evaluation = Evaluation::create(module, first.choice, options, machine);
  if (failed(evaluation))
    return failure();
  first.cost = evaluation->getCost();
  MemoryFloor own = evaluation->findFloor();
  if (plans.empty() || own.total() < floor.total())
    floor = own;
  first.leastSeconds = leastSeconds(first.cost->time, machine);
  first.leastBytes = first.cost->peak;
  plans.push_back(first);
  if (!ladder)
    return success();
  for (const RecomputePlan &recompute : llvm::drop_begin(*ladder)) {
    Plan plan;
    plan.choice = placement;
    plan.choice.activations = &recompute.activations;
    plan.leastSeconds = first.leastSeconds + recompute.leastSeconds;
    plan.leastBytes = own.state + recompute.leastBytes;
    plans.push_back(plan);
  }
  return success();
}

LogicalResult PlanSearch::evaluate(Plan &plan) {
  if (plan.cost)
    return success();
  FailureOr<Evaluation> evaluation = Evaluation::create(module, plan.choice, options, machine);
  if (failed(evaluation))
    return failure();
  plan.cost = evaluation->getCost();
  plan.leastBytes = plan.cost->peak;
  return success();
}

static bool fits(const PlanCost &cost, const Budget &budget) {
  return (!budget.memory || uint64_t(cost.peak) <= budget.memory) &&
         (!budget.activations || uint64_t(cost.activations) <= budget.activations);
}

FailureOr<const PlanChoice *> PlanSearch::findFastest(const Budget &budget, double seconds) {
  const PlanChoice *best = nullptr;
  for (Plan &plan : plans) {
    if (plan.leastSeconds >= seconds)
      break;
    if (budget.memory && uint64_t(plan.leastBytes) > budget.memory)
      continue;
    if (failed(evaluate(plan)))
      return failure();
    if (fits(*plan.cost, budget) && plan.cost->time.total() < seconds) {
      seconds = plan.cost->time.total();
      best = &plan.choice;
    }
  }
  return best;
}

FailureOr<const PlanChoice *> PlanSearch::findSmallest(const Budget &budget) {
  std::vector<Plan *> order;
  for (Plan &plan : plans)
    order.push_back(&plan);
  llvm::stable_sort(order, [](Plan *a, Plan *b) { return a->leastBytes < b->leastBytes; });
  Plan *best = nullptr;
  Budget activations{0, budget.activations};
  for (Plan *plan : order) {
    if (best && plan->leastBytes >= best->cost->peak)
      break;
    if (failed(evaluate(*plan)))
      return failure();
    if (fits(*plan->cost, activations) && (!best || plan->cost->peak < best->cost->peak))
      best = plan;
  }
  return best ? &best->choice : nullptr;
}

FailureOr<int64_t> PlanSearch::findLeastActivations() {
  int64_t least = INT64_MAX;
  for (Plan &plan : plans) {
    if (failed(evaluate(plan)))
      return failure();
    least = std::min(least, plan.cost->activations);
  }
  return least;
}

const PlanCost &PlanSearch::costOf(const PlanChoice *choice) const {
  auto plan = llvm::find_if(plans, [&](const Plan &p) { return &p.choice == choice; });
  return *plan->cost;
}

} // namespace zero
