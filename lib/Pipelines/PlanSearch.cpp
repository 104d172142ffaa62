//===- PlanSearch.cpp - plans that keep a budget --------------------------===//

#include "PlanSearch.h"

#include "Pipelines.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Planning/Swap.h"
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
  choice.params = fixedTier(options.offloadParams);
  choice.optimizer = fixedTier(options.offloadOptimizer);
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

/// With `auto`: each placement on each tier that is of use. Nvme is never faster than the host, so
/// it is left out while the host has room for everything.
std::vector<PlanChoice> PlanSearch::withTiers(const std::vector<PlanChoice> &placements) const {
  SmallVector<Tier> tiers{Tier::Device, Tier::Host};
  if (options.hostBudget.getValue() != 0)
    tiers.push_back(Tier::Nvme);
  std::vector<PlanChoice> all;
  for (PlanChoice choice : placements) {
    const bool isFree = options.offloadParams == "auto" && choice.stage == 3;
    for (Tier params : isFree ? ArrayRef<Tier>(tiers) : ArrayRef<Tier>(choice.params))
      for (Tier optimizer : options.offloadOptimizer == "auto" ? ArrayRef<Tier>(tiers)
                                                               : ArrayRef<Tier>(choice.optimizer)) {
        all.push_back(choice);
        all.back().params = params;
        all.back().optimizer = optimizer;
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
  for (const PlanChoice &placement : withTiers(placements()))
    if (failed(addPlans(placement)))
      return failure();
  llvm::stable_sort(plans,
                    [](const Plan &a, const Plan &b) { return a.leastSeconds < b.leastSeconds; });
  return success();
}

/// What no step of the same placement takes less than, if so much runs again, however its
/// parameters share buckets, which depends on who reads them: updates may find their operands in
/// caches, collectives be fewer.
static double leastSeconds(StepTime time, double again, const planning::Machine &machine) {
  const double cached = std::min(1.0, machine.memoryBandwidth / machine.cacheBandwidth);
  time.compute += again - (1 - cached) * time.update;
  time.collective -= time.latency;
  return time.total();
}

/// Parts of what is saved by which swaps differ at least.
static constexpr int64_t kSwapParts = 8;

/// Plans of the same placement in which part of what is saved waits elsewhere.
void PlanSearch::addSwaps(const Plan &first, const MemoryFloor &own) {
  std::vector<planning::SavedWay> ways;
  if (ladder)
    for (const RecomputePlan &recompute : *ladder)
      ways.push_back({recompute.leastSeconds, recompute.leastBytes});
  else
    ways.push_back({0, first.cost->activations});
  planning::SwapLanes lanes;
  lanes.compute = first.cost->time.compute + first.cost->time.collective;
  lanes.busy = first.cost->time.transfer;
  const double turns = double(microBatchesOf(module)), unit = 1 << 20;
  for (int link = 0; link < planning::kNumLinks; ++link)
    lanes.perByte[link] =
        planning::transferSeconds(machine, planning::Link(link), unit) * turns / unit;
  const int64_t given = options.hostBudget.getValue();
  const planning::SwapRoom room{given ? std::max<int64_t>(given - first.cost->host, 0) : INT64_MAX,
                                given != 0};
  const int64_t grain = std::max<int64_t>(ways.front().bytes / kSwapParts, 1);
  for (const planning::Swap &swap : planning::listSwaps(ways, lanes, room, grain)) {
    if (swap.host + swap.disk == 0)
      continue;
    Plan plan;
    plan.choice = first.choice;
    if (ladder)
      plan.choice.activations = &(*ladder)[swap.way].activations;
    plan.choice.swapHost = swap.host;
    plan.choice.swapNvme = swap.disk;
    // Of links nothing is sure: values are moved whole, and some cannot be.
    plan.leastSeconds = leastSeconds(first.cost->time, ways[swap.way].again, machine);
    plan.leastBytes = own.state + ways[swap.way].bytes - swap.host - swap.disk;
    plans.push_back(plan);
  }
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
  first.leastSeconds = leastSeconds(first.cost->time, 0, machine);
  first.leastBytes = first.cost->peak;
  plans.push_back(first);
  if (options.offloadActivations == "auto")
    addSwaps(first, own);
  if (!ladder)
    return success();
  for (const RecomputePlan &recompute : llvm::drop_begin(*ladder)) {
    Plan plan;
    plan.choice = placement;
    plan.choice.activations = &recompute.activations;
    plan.leastSeconds = leastSeconds(first.cost->time, recompute.leastSeconds, machine);
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
         (!budget.activations || uint64_t(cost.activations) <= budget.activations) &&
         (!budget.host || uint64_t(cost.host) <= budget.host);
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
  const Budget others{0, budget.activations, budget.host};
  for (Plan *plan : order) {
    if (best && plan->leastBytes >= best->cost->peak)
      break;
    if (failed(evaluate(*plan)))
      return failure();
    if (fits(*plan->cost, others) && (!best || plan->cost->peak < best->cost->peak))
      best = plan;
  }
  return best ? &best->choice : nullptr;
}

FailureOr<int64_t> PlanSearch::findLeast(int64_t PlanCost::*bytes) {
  int64_t least = INT64_MAX;
  for (Plan &plan : plans) {
    if (failed(evaluate(plan)))
      return failure();
    least = std::min(least, (*plan.cost).*bytes);
  }
  return least;
}

FailureOr<int64_t> PlanSearch::findLeastActivations() { return findLeast(&PlanCost::activations); }

FailureOr<int64_t> PlanSearch::findLeastHost() { return findLeast(&PlanCost::host); }

const PlanCost &PlanSearch::costOf(const PlanChoice *choice) const {
  auto plan = llvm::find_if(plans, [&](const Plan &p) { return &p.choice == choice; });
  return *plan->cost;
}

} // namespace zero
