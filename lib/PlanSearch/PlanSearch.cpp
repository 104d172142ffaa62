//===- PlanSearch.cpp - search for plans within a budget ------------------===//

#include "PlanSearch.h"

#include "dialects/Zero/Mesh.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Planning/Swap.h"
#include "zero/Transforms/Plan.h"

#include <queue>
#include <set>

using namespace mlir;

namespace zero {

/// With --zero=auto: the number of sets of persistent parameters that are tried at stage 3.
static constexpr size_t kPersistentSets = 3;

PlanSearch::PlanSearch(ModuleOp module, const PhaseOptions &options,
                       const planning::Machine &machine)
    : module(module), options(options), machine(machine) {}

PlanChoice PlanSearch::asked() const {
  PlanChoice choice;
  choice.stage = options.place.stage;
  choice.ranks = options.dataRanks();
  choice.persistUnder = options.place.persistUnder.getValue();
  choice.bucketBytes = options.place.bucketBytes.getValue();
  choice.params = options.offload.params.fixed(Tier::Device);
  choice.optimizer = options.offload.optimizer.fixed(Tier::Device);
  choice.interleave = options.place.microBatchOrder.is(MicroBatchOrder::Vertical);
  return choice;
}

/// Sizes below which parameters may remain replicated: a few of those that divide them into sets.
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

/// With tiles that a planner tries: at the stage that gathers them, with and without persistent
/// small parameters.
std::vector<PlanChoice> PlanSearch::tiledPlacements() const {
  PlanChoice choice = asked();
  choice.stage = 3;
  std::vector<PlanChoice> all;
  std::vector<uint64_t> sizes = persistentSizes(module);
  for (uint64_t size : ArrayRef(sizes).take_front(2)) {
    choice.persistUnder = size;
    all.push_back(choice);
  }
  return withNodes(std::move(all));
}

/// The placements of state: as requested, or with --zero=auto each stage, and for stage 3 also with
/// small parameters not sharded, those that save the most seconds per byte.
std::vector<PlanChoice> PlanSearch::placements() const {
  if (!options.plan.isAuto() || options.dataRanks() == 1)
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
  return withNodes(std::move(all));
}

/// On a machine with nodes: each plan of stage 3 also with parameters that are sharded within
/// nodes, which are those of --ranks-per-node, or of the machine.
std::vector<PlanChoice> PlanSearch::withNodes(std::vector<PlanChoice> choices) const {
  const int64_t given = options.place.ranksPerNode, tensorRanks = Mesh(module).tensorRanks();
  const int64_t each = given ? given : machine.network.ranksPerNode, ranks = options.dataRanks();
  const int64_t local = each % tensorRanks == 0 ? each / tensorRanks : 0;
  const bool isCut = local > 1 && local < ranks && ranks % local == 0;
  if (machine.network.ranksPerNode == 0 || !isCut)
    return choices;
  for (size_t i = 0, count = choices.size(); i < count; ++i)
    if (choices[i].stage == 3 && choices[i].params == Tier::Device) {
      choices.push_back(choices[i]);
      choices.back().nodeRanks = unsigned(local);
    }
  return choices;
}

/// With `auto`: each placement on each useful tier. Nvme is never faster than the host, so it is
/// omitted if the host has space for everything. Parameters, which each micro-batch reads, are
/// never placed further away than optimizer state, which a step reads once, if both are free.
std::vector<PlanChoice> PlanSearch::withTiers(const std::vector<PlanChoice> &placements) const {
  SmallVector<Tier> tiers{Tier::Device, Tier::Host};
  if (options.plan.hostBudget.getValue() != 0)
    tiers.push_back(Tier::Nvme);
  std::vector<PlanChoice> all;
  for (PlanChoice choice : placements) {
    const bool isFree =
        options.offload.params.isAuto() && choice.stage == 3 && choice.nodeRanks == 0;
    for (Tier params : isFree ? ArrayRef<Tier>(tiers) : ArrayRef<Tier>(choice.params))
      for (Tier optimizer : options.offload.optimizer.isAuto() ? ArrayRef<Tier>(tiers)
                                                               : ArrayRef<Tier>(choice.optimizer)) {
        if (isFree && options.offload.optimizer.isAuto() && params > optimizer)
          continue;
        all.push_back(choice);
        all.back().params = params;
        all.back().optimizer = optimizer;
      }
  }
  return all;
}

/// With --micro-batch-order=auto: each choice in both orders.
static std::vector<PlanChoice> withOrders(ModuleOp module, const PhaseOptions &options,
                                          std::vector<PlanChoice> choices) {
  if (!options.place.microBatchOrder.isAuto() || microBatchesOf(module) == 1)
    return choices;
  const size_t count = choices.size();
  for (size_t i = 0; i < count; ++i) {
    choices.push_back(choices[i]);
    choices.back().interleave = true;
  }
  return choices;
}

LogicalResult PlanSearch::prepare(const PlanSearch *known) {
  FailureOr<func::FuncOp> step = findStep(module);
  if (failed(step))
    return failure();
  if (options.checkpointMode().isAuto())
    ladder = known && known->ladder ? known->ladder
                                    : std::make_shared<const std::vector<RecomputePlan>>(
                                          listRecomputePlans(module, *step, machine));
  for (const PlanChoice &choice : withOrders(module, options, withTiers(placements()))) {
    // First, since of plans that take as long the first is chosen: the disk is spared.
    if (options.plan.hostBudget.getValue() != 0 && options.offload.optimizer.isAuto() &&
        choice.optimizer == Tier::Nvme)
      unlisted.push_back({choice, /*fillsHost=*/true, stateBytes(choice)});
    unlisted.push_back({choice, /*fillsHost=*/false, stateBytes(choice)});
  }
  std::stable_sort(unlisted.begin(), unlisted.end(), [](const Placement &a, const Placement &b) {
    return a.leastBytes < b.leastBytes;
  });
  floor.state = unlisted.front().leastBytes;
  return success();
}

/// Bytes of state on the device under `placement`: each rank's part of sharded state. Without
/// padding.
int64_t PlanSearch::stateBytes(const PlanChoice &placement) {
  const int64_t ranks = placement.ranks;
  const int64_t sharing = placement.nodeRanks ? placement.nodeRanks : ranks;
  auto part = [&](int64_t bytes, bool isSharded) { return isSharded ? bytes / ranks : bytes; };
  int64_t bytes = 0;
  for (Operation &op : *module.getBody()) {
    if (auto parameter = dyn_cast<ParameterOp>(op)) {
      const int64_t own = tensorBytes(parameter.getTensorType());
      const bool isWhole = placement.stage < 3 || uint64_t(own) < placement.persistUnder;
      if (isWhole || placement.params == Tier::Device)
        bytes += isWhole ? own : own / sharing;
    } else if (auto state = dyn_cast<StateOp>(op)) {
      if (!state.getOf() || placement.optimizer == Tier::Device)
        bytes += part(tensorBytes(state.getTensorType()), placement.stage >= 1 && state.getOf());
    }
  }
  return bytes;
}

/// Lists the plans of an unlisted placement.
LogicalResult PlanSearch::list(size_t placement) {
  const Placement next = unlisted[placement];
  unlisted.erase(unlisted.begin() + placement);
  return next.fillsHost ? addFilledHost(next.choice) : addPlans(next.choice);
}

/// Lists the plans of all placements whose state fits into `bytes`; 0: of all.
LogicalResult PlanSearch::listUpTo(uint64_t bytes) {
  while (!unlisted.empty() && (!bytes || uint64_t(unlisted.front().leastBytes) <= bytes))
    if (failed(list(0)))
      return failure();
  return success();
}

/// A lower bound of the time of a step of the same placement with this recomputation, for any
/// buckets, which depend on the readers: updates may find their operands in caches, and there may
/// be fewer collectives.
static double leastSeconds(StepTime time, double again, const planning::Machine &machine) {
  const double cached = std::min(1.0, machine.memoryBandwidth / machine.cacheBandwidth);
  time.compute += again - (1 - cached) * time.update;
  time.collective -= time.latency;
  return time.least();
}

/// Swap plans differ at least by this fraction of the saved values.
static constexpr int64_t kSwapParts = 8;

/// Adds plans of the same placement in which part of the saved values waits on another tier.
void PlanSearch::addSwaps(Plan &first, const MemoryFloor &own) {
  // In vertical order the values of all micro-batches wait, each once.
  const int64_t all = microBatchesOf(module), together = first.choice.interleave ? all : 1;
  std::vector<planning::RecomputeChoice> choices;
  if (ladder)
    for (const RecomputePlan &recompute : *ladder)
      choices.push_back({recompute.leastSeconds, recompute.leastBytes * together});
  else
    choices.push_back({0, first.cost->activations});
  planning::SwapLanes lanes;
  lanes.compute = first.cost->time.compute + first.cost->time.collective;
  lanes.busy = first.cost->time.transfer;
  const double turns = double(all / together), unit = 1 << 20;
  for (int link = 0; link < planning::kNumLinks; ++link)
    lanes.perByte[link] =
        planning::transferSeconds(machine, planning::Link(link), unit, options.ranks()) * turns /
        unit;
  const int64_t given = options.plan.hostBudget.getValue();
  const planning::SwapRoom room{
      given ? std::max<int64_t>(given - first.cost->host.packed(), 0) : INT64_MAX, given != 0};
  const int64_t grain = std::max<int64_t>(choices.front().bytes / kSwapParts, 1);
  for (const planning::Swap &swap : planning::listSwaps(choices, lanes, room, grain)) {
    if (swap.host + swap.disk == 0)
      continue;
    Plan plan;
    plan.choice = first.choice;
    if (ladder)
      plan.choice.activations = &(*ladder)[swap.choice].activations;
    plan.choice.swapHost = swap.host;
    plan.choice.swapNvme = swap.disk;
    // Of links nothing is sure: values are moved whole, and some cannot be.
    plan.leastSeconds = leastSeconds(first.cost->time, choices[swap.choice].again, machine);
    plan.leastBytes = own.state + choices[swap.choice].bytes - swap.host - swap.disk;
    plans.push_back(plan);
  }
}

/// Number of attempts to fill the host: the staged bytes depend on the bytes on the host.
static constexpr int kFillings = 6;

/// The host bytes beyond `given`, or 0.
static int64_t excessOf(TierBytes &host, int64_t given) {
  return std::max<int64_t>((host.least() > given ? host.least() : host.packed()) - given, 0);
}

/// Builds the program for `choice`. If optimizer state that fills the host exceeds the budget, less
/// of it is placed there; the amount that fits depends on all choices.
FailureOr<Evaluation> PlanSearch::make(PlanChoice &choice) {
  for (int turn = 1;; ++turn) {
    ++evaluated;
    FailureOr<Evaluation> evaluation = Evaluation::create(module, choice, options, machine);
    int64_t &filled = choice.optimizerHost;
    if (failed(evaluation) || filled == 0 || turn == kFillings)
      return evaluation;
    PlanCost &cost = evaluation->getCost();
    const int64_t excess = excessOf(cost.host, options.plan.hostBudget.getValue());
    if (excess == 0)
      return evaluation;
    filled = std::max<int64_t>(cost.optimizerOnHost - excess, 0);
  }
}

LogicalResult PlanSearch::addPlans(const PlanChoice &placement) {
  PlanChoice first = placement;
  if (ladder)
    first.activations = &ladder->front().activations;
  FailureOr<Evaluation> evaluation = make(first);
  return failed(evaluation) ? failure() : addPlans(first, *evaluation);
}

/// Placements of optimizer state on nvme: as much of it on the host as a budget allows, which saves
/// time of the links of the disk.
LogicalResult PlanSearch::addFilledHost(PlanChoice placement) {
  const int64_t given = options.plan.hostBudget.getValue();
  if (ladder)
    placement.activations = &ladder->front().activations;
  placement.optimizerHost = given;
  FailureOr<Evaluation> evaluation = make(placement);
  if (failed(evaluation))
    return failure();
  const bool fits = excessOf(evaluation->getCost().host, given) == 0;
  return fits && placement.optimizerHost ? addPlans(placement, *evaluation) : success();
}

/// The plans of one placement. The first saves everything: the others take its time plus
/// recomputation, and have the same state.
LogicalResult PlanSearch::addPlans(const PlanChoice &placement, Evaluation &evaluation) {
  MemoryFloor own = evaluation.findFloor();
  if (plans.empty() || own.total() < floor.total())
    floor = own;
  Plan &first = plans.emplace_back();
  first.choice = placement;
  first.cost = std::move(evaluation.getCost());
  first.leastSeconds = leastSeconds(first.cost->time, 0, machine);
  first.leastBytes = first.cost->device.least();
  if (options.offload.activations.isAuto())
    addSwaps(first, own);
  if (!ladder)
    return success();
  for (const RecomputePlan &recompute : llvm::drop_begin(*ladder)) {
    Plan &plan = plans.emplace_back();
    plan.choice = placement;
    plan.choice.activations = &recompute.activations;
    plan.leastSeconds = leastSeconds(first.cost->time, recompute.leastSeconds, machine);
    plan.leastBytes = own.state + recompute.leastBytes;
  }
  return success();
}

LogicalResult PlanSearch::evaluate(Plan &plan) {
  if (plan.cost)
    return success();
  FailureOr<Evaluation> evaluation = make(plan.choice);
  if (failed(evaluation))
    return failure();
  plan.cost = std::move(evaluation->getCost());
  plan.leastBytes = plan.cost->device.least();
  return success();
}

/// A plan that certainly does not fit is not packed.
static bool fits(PlanCost &cost, const Budget &budget) {
  auto within = [](int64_t bytes, uint64_t limit) { return !limit || uint64_t(bytes) <= limit; };
  return within(cost.activations, budget.activations) &&
         within(cost.device.least(), budget.memory) && within(cost.host.least(), budget.host) &&
         (!budget.memory || within(cost.device.packed(), budget.memory)) &&
         (!budget.host || within(cost.host.packed(), budget.host));
}

FailureOr<const PlanChoice *> PlanSearch::findFastest(const Budget &budget, double seconds) {
  if (failed(listUpTo(budget.memory)))
    return failure();
  SmallVector<Plan *> order;
  for (Plan &plan : plans)
    order.push_back(&plan);
  llvm::stable_sort(order,
                    [](const Plan *a, const Plan *b) { return a->leastSeconds < b->leastSeconds; });
  const PlanChoice *best = nullptr;
  for (Plan *plan : order) {
    if (plan->leastSeconds >= seconds)
      break;
    if (budget.memory && uint64_t(plan->leastBytes) > budget.memory)
      continue;
    if (failed(evaluate(*plan)))
      return failure();
    if (plan->cost->time.seconds < seconds && fits(*plan->cost, budget)) {
      seconds = plan->cost->time.seconds;
      best = &plan->choice;
    }
  }
  return best;
}

/// Visits plans in order of their lower bounds. A plan is refined as long as its lower bound is the
/// minimum of all.
FailureOr<const PlanChoice *> PlanSearch::findSmallest(const Budget &budget) {
  using Entry = std::tuple<int64_t, double, size_t>; // bytes at least; of equals the fastest first
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  auto push = [&](size_t index) {
    open.push({plans[index].leastBytes, plans[index].leastSeconds, index});
  };
  size_t pushed = 0;
  const Budget others{0, budget.activations, budget.host};
  while (true) {
    for (; pushed < plans.size(); ++pushed)
      push(pushed);
    if (!unlisted.empty() &&
        (open.empty() || unlisted.front().leastBytes <= std::get<0>(open.top()))) {
      if (failed(list(0)))
        return failure();
      continue;
    }
    if (open.empty())
      return static_cast<const PlanChoice *>(nullptr);
    const size_t index = std::get<2>(open.top());
    open.pop();
    Plan &plan = plans[index];
    if (!plan.cost) {
      if (failed(evaluate(plan)))
        return failure();
    } else if (!fits(*plan.cost, others)) {
      continue;
    } else if (plan.cost->device.isPacked() && plan.leastBytes == plan.cost->device.packed()) {
      return &plan.choice;
    } else {
      plan.leastBytes = plan.cost->device.packed();
    }
    push(index);
  }
}

LogicalResult PlanSearch::evaluateAll() {
  if (failed(listUpTo(0)))
    return failure();
  for (Plan &plan : plans)
    if (failed(evaluate(plan)))
      return failure();
  return success();
}

FailureOr<int64_t> PlanSearch::findLeastActivations() {
  if (failed(evaluateAll()))
    return failure();
  int64_t least = INT64_MAX;
  for (const Plan &plan : plans)
    least = std::min(least, plan.cost->activations);
  return least;
}

FailureOr<int64_t> PlanSearch::findLeastHost() {
  if (failed(evaluateAll()))
    return failure();
  int64_t least = INT64_MAX;
  for (Plan &plan : plans)
    if (plan.cost->host.least() < least)
      least = std::min(least, plan.cost->host.packed());
  return least;
}

PlanCost &PlanSearch::costOf(const PlanChoice *choice) {
  auto plan = llvm::find_if(plans, [&](const Plan &p) { return &p.choice == choice; });
  return *plan->cost;
}

} // namespace zero
