//===- PlanSearch.cpp - search for plans within a budget ------------------===//

#include "PlanSearch.h"

#include "Placements.h"

#include "zero/Analysis/StepFunction.h"
#include "zero/Planning/Swap.h"
#include "zero/Transforms/Plan.h"

#include <queue>

using namespace mlir;

namespace zero {

/// Whether `bytes` are within `limit`; 0: no limit.
static bool within(int64_t bytes, uint64_t limit) { return !limit || uint64_t(bytes) <= limit; }

PlanSearch::PlanSearch(ModuleOp module, const PhaseOptions &options,
                       const planning::Machine &machine)
    : module(module), options(options), machine(machine) {}

Budget budgetOf(const PhaseOptions &options) {
  const phase::PlanOptions &plan = options.plan;
  return {plan.memoryBudget.getValue(), plan.activationBudget.getValue(),
          plan.hostBudget.getValue(), plan.nvmeBudget.getValue()};
}

LogicalResult PlanSearch::prepare(const PlanSearch *known) {
  FailureOr<func::FuncOp> step = findStep(module);
  if (failed(step))
    return failure();
  numOps = int64_t(step->getBody().front().getOperations().size());
  if (options.checkpointMode().isAuto())
    ladder = known && known->ladder ? known->ladder
                                    : std::make_shared<const std::vector<RecomputePlan>>(
                                          listRecomputePlans(module, *step, machine));
  for (const PlanChoice &choice : listPlacements(module, options, machine)) {
    // First, since of plans that take as long the first is chosen: the disk is spared.
    const auto [device, host, nvme] = stateBytes(module, choice);
    const auto given = int64_t(options.plan.hostBudget.getValue());
    if (given != 0 && options.offload.optimizer.isAuto() && choice.optimizer == Tier::Nvme)
      unlisted.push_back(
          {choice, /*fillsHost=*/true, device, {host, std::max<int64_t>(nvme - given, 0)}});
    unlisted.push_back({choice, /*fillsHost=*/false, device, {host, nvme}});
  }
  std::stable_sort(unlisted.begin(), unlisted.end(), [](const Placement &a, const Placement &b) {
    return a.leastBytes < b.leastBytes;
  });
  floor.state = unlisted.front().leastBytes;
  return success();
}

bool PlanSearch::OffDevice::fit(const Budget &budget) const {
  return within(host, budget.host) && within(nvme, budget.nvme);
}

/// Lists the plans of an unlisted placement.
LogicalResult PlanSearch::list(size_t placement) {
  Placement next = unlisted[placement];
  unlisted.erase(unlisted.begin() + placement);
  if (ladder)
    next.choice.activations = &ladder->front().activations;
  return next.fillsHost ? addFilledHost(next) : addPlans(next);
}

/// Lists the plans of all placements whose state fits.
LogicalResult PlanSearch::listUpTo(const Budget &budget) {
  for (size_t next = 0; next < unlisted.size();) {
    const Placement &placement = unlisted[next];
    if (!within(placement.leastBytes, budget.memory) || !placement.least.fit(budget))
      ++next;
    else if (failed(list(next)))
      return failure();
  }
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

/// Bytes that a budget leaves beside the least of `tier`; 0: no limit.
static int64_t roomOf(int64_t budget, const TierBytes &tier) {
  return budget ? std::max<int64_t>(budget - tier.least(), 0) : INT64_MAX;
}

/// Adds plans of the same placement in which part of the saved values waits on another tier.
/// Each of them needs at least `least` bytes.
void PlanSearch::addSwaps(Plan &first, int64_t least) {
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
  const int64_t ofDisk = options.plan.nvmeBudget.getValue();
  const planning::SwapRoom room{given ? std::max<int64_t>(given - first.cost->host.packed(), 0)
                                      : INT64_MAX,
                                given == 0 ? 0 : roomOf(ofDisk, first.cost->nvme)};
  auto add = [&](size_t way, int64_t host, int64_t disk, int64_t left) {
    if (host == 0 && disk == 0)
      return;
    Plan &plan = plans.emplace_back();
    plan.choice = first.choice;
    if (ladder)
      plan.choice.activations = &(*ladder)[way].activations;
    plan.choice.swapHost = host;
    plan.choice.swapNvme = disk;
    // Of links nothing is sure: values are moved whole, and some cannot be.
    plan.leastSeconds = leastSeconds(first.cost->time, choices[way].again, machine);
    plan.leastBytes = std::max(least, first.state + left);
    plan.state = first.state;
    plan.least = first.least;
  };
  const int64_t grain = std::max<int64_t>(choices.front().bytes / kSwapParts, 1);
  for (const planning::Swap &swap : planning::listSwaps(choices, lanes, room, grain))
    add(swap.choice, swap.host, swap.disk, choices[swap.choice].bytes - swap.host - swap.disk);
  // What --offload-activations says without a planner: everything, on one tier.
  for (size_t way = 0; way < choices.size(); ++way)
    if (!ladder || (*ladder)[way].isFlag) {
      add(way, room.host, 0, 0);
      add(way, 0, room.disk, 0);
    }
}

/// Number of attempts to fill the host: the staged bytes depend on the bytes on the host.
static constexpr int kFillings = 6;

/// The host bytes beyond `given`, or 0.
static int64_t excessOf(TierBytes &host, int64_t given) {
  if (host.least() > given)
    return host.least() - given;
  return host.fits(given) ? 0 : host.packed() - given;
}

/// Builds the program for `choice`. If optimizer state that fills the host exceeds the budget, less
/// of it is placed there; the amount that fits depends on all choices. Without `mayBeEmpty` the
/// program exceeds the budget if no amount fits.
FailureOr<Evaluation> PlanSearch::make(PlanChoice &choice, bool mayBeEmpty) {
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
    if (filled == 0 && !mayBeEmpty)
      return evaluation;
  }
}

LogicalResult PlanSearch::addPlans(Placement placement) {
  FailureOr<Evaluation> evaluation = make(placement.choice);
  return failed(evaluation) ? failure() : addPlans(placement, *evaluation);
}

/// Placements of optimizer state on nvme: as much of it on the host as a budget allows, which saves
/// time of the links of the disk.
LogicalResult PlanSearch::addFilledHost(Placement placement) {
  const int64_t given = options.plan.hostBudget.getValue();
  PlanChoice &choice = placement.choice;
  choice.optimizerHost = given;
  FailureOr<Evaluation> evaluation = make(choice, /*mayBeEmpty=*/false);
  if (failed(evaluation))
    return failure();
  const bool fits = excessOf(evaluation->getCost().host, given) == 0;
  return fits && choice.optimizerHost ? addPlans(placement, *evaluation) : success();
}

/// The plans of one placement. The first saves everything: the others take its time plus
/// recomputation, and have the same state.
LogicalResult PlanSearch::addPlans(const Placement &placement, Evaluation &evaluation) {
  // Stages 1 and 2 of one micro-batch, for example, or two limits that no bucket reaches.
  if (!programs.insert(evaluation.hashProgram()).second)
    return success();
  MemoryFloor own = evaluation.findFloor();
  if (plans.empty() || own.total() < floor.total())
    floor = own;
  const int64_t least = own.state + std::max(own.launch, evaluation.leastWorking());
  OffDevice elsewhere = placement.least;
  // How much state fills the host is another for each plan.
  if (!placement.choice.optimizerHost)
    elsewhere = {std::max(elsewhere.host, evaluation.leastOn(Tier::Host)),
                 std::max(elsewhere.nvme, evaluation.leastOn(Tier::Nvme))};
  Plan &first = plans.emplace_back();
  first.choice = placement.choice;
  first.cost = std::move(evaluation.getCost());
  first.leastSeconds = leastSeconds(first.cost->time, 0, machine);
  first.leastBytes = first.cost->device.least();
  first.state = own.state;
  first.least = elsewhere;
  if (options.offload.activations.isAuto())
    addSwaps(first, least);
  if (!ladder)
    return success();
  for (const RecomputePlan &recompute : llvm::drop_begin(*ladder)) {
    Plan &plan = plans.emplace_back();
    plan.choice = placement.choice;
    plan.choice.activations = &recompute.activations;
    plan.leastSeconds = leastSeconds(first.cost->time, recompute.leastSeconds, machine);
    plan.leastBytes = std::max(least, own.state + recompute.leastBytes);
    plan.state = own.state;
    plan.least = first.least;
  }
  return success();
}

PlanSearch::Common PlanSearch::commonOf(const PlanChoice &choice) {
  return {choice.stage,
          choice.persistUnder,
          choice.bucketBytes,
          choice.nodeRanks,
          choice.interleave,
          choice.activations,
          choice.swapHost + choice.swapNvme};
}

/// Raises the lower bound of the bytes of `plan` by what is known of plans with the same
/// recomputation.
void PlanSearch::raiseBound(Plan &plan) const {
  if (auto known = leastBesideState.find(commonOf(plan.choice)); known != leastBesideState.end())
    plan.leastBytes = std::max(plan.leastBytes, plan.state + known->second);
}

LogicalResult PlanSearch::evaluate(Plan &plan) {
  if (plan.cost)
    return success();
  FailureOr<Evaluation> evaluation = make(plan.choice);
  if (failed(evaluation))
    return failure();
  int64_t &least = leastBesideState[commonOf(plan.choice)];
  least = std::max(least, evaluation->leastOnOtherTiers());
  plan.cost = std::move(evaluation->getCost());
  plan.leastBytes = plan.cost->device.least();
  builtPlan = &plan;
  built = std::move(*evaluation);
  return success();
}

/// A plan that certainly does not fit is not packed.
static bool fits(PlanCost &cost, const Budget &budget) {
  return within(cost.activations, budget.activations) &&
         within(cost.device.least(), budget.memory) && within(cost.host.least(), budget.host) &&
         within(cost.nvme.least(), budget.nvme) && cost.device.fits(budget.memory) &&
         cost.host.fits(budget.host) && cost.nvme.fits(budget.nvme);
}

/// Replaces the seconds of `plan`, which wait for operands only, by those of packed values.
LogicalResult PlanSearch::simulatePacked(Plan &plan) {
  if (plan.cost->isExact)
    return success();
  if (builtPlan != &plan) {
    FailureOr<Evaluation> evaluation = make(plan.choice);
    if (failed(evaluation))
      return failure();
    builtPlan = &plan;
    built = std::move(*evaluation);
  }
  built->simulatePacked(*plan.cost, machine, options.kernels.threadsPerRank);
  return success();
}

/// A search ends when no other plan can be faster by more than this part, or after simulations of
/// packed values with so many ops of the step in all: those of large steps take long.
static constexpr double kNearlyFastest = 0.01;
static constexpr int64_t kMostPackedOps = 100'000;

/// A search for any plan that fits builds so many programs in the order of memory, or more as long
/// as they have so many ops in all; once one fits, a few in the order of time.
static constexpr int64_t kFittingPrograms = 16, kFittingOps = 24'000;
static constexpr size_t kFasterPrograms = 8;

/// Visits plans in order of their seconds: lower bounds, then those that wait for operands only,
/// and at last those of packed values. A plan is refined as long as no other may be faster.
/// `mostBuilt`: ends without a plan once the search has built so many programs, and takes the first
/// that fits.
FailureOr<const PlanChoice *> PlanSearch::findFirst(const Budget &budget, double seconds,
                                                    std::optional<size_t> mostBuilt) {
  using Entry = std::tuple<double, size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  for (auto [index, plan] : llvm::enumerate(plans))
    open.push({plan.cost ? plan.cost->time.seconds : plan.leastSeconds, index});
  const PlanChoice *best = nullptr;
  for (int64_t packedOps = 0; !open.empty() && packedOps < kMostPackedOps;) {
    const auto [least, index] = open.top();
    if (least >= seconds * (best ? 1 - kNearlyFastest : 1))
      break;
    open.pop();
    Plan &plan = plans[index];
    raiseBound(plan);
    if (!within(plan.leastBytes, budget.memory) || !plan.least.fit(budget) ||
        (plan.cost && !fits(*plan.cost, budget)))
      continue;
    if (!plan.cost) {
      if (mostBuilt && evaluated >= *mostBuilt)
        break;
      if (failed(evaluate(plan)))
        return failure();
      open.push({plan.cost->time.seconds, index});
      continue;
    }
    packedOps += numOps;
    if (failed(simulatePacked(plan)))
      return failure();
    if (plan.cost->time.seconds < seconds) {
      seconds = plan.cost->time.seconds;
      best = &plan.choice;
      if (mostBuilt)
        return best;
    }
  }
  return best;
}

FailureOr<const PlanChoice *> PlanSearch::findFastest(const Budget &budget, double seconds) {
  if (failed(listUpTo(budget)))
    return failure();
  return findFirst(budget, seconds, /*mostBuilt=*/std::nullopt);
}

FailureOr<const PlanChoice *> PlanSearch::findFitting(const Budget &budget) {
  const int64_t below = budget.memory ? int64_t(budget.memory) + 1 : INT64_MAX;
  const auto most = size_t(std::max(kFittingPrograms, kFittingOps / numOps));
  FailureOr<const PlanChoice *> fitting = findSmall(budget, below, evaluated + most);
  if (failed(fitting) || !*fitting)
    return fitting;
  Plan &plan = planOf(*fitting);
  if (failed(simulatePacked(plan)))
    return failure();
  FailureOr<const PlanChoice *> faster =
      findFirst(budget, plan.cost->time.seconds, evaluated + kFasterPrograms);
  return failed(faster) || *faster ? faster : fitting;
}

/// Visits plans in order of their lower bounds. A plan is refined as long as its lower bound is the
/// minimum of all. The plans of one placement are listed in any case, for the floor.
/// `mostBuilt`: takes the first that fits, and ends without one once the search has built so many
/// programs.
FailureOr<const PlanChoice *> PlanSearch::findSmall(const Budget &budget, int64_t below,
                                                    std::optional<size_t> mostBuilt) {
  using Entry = std::tuple<int64_t, double, size_t>; // bytes at least; of equals the fastest first
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  auto push = [&](size_t index) {
    open.push({plans[index].leastBytes, plans[index].leastSeconds, index});
  };
  size_t pushed = 0;
  Budget others = budget;
  others.memory = 0;
  while (true) {
    for (; pushed < plans.size(); ++pushed) {
      Plan &plan = plans[pushed];
      if (mostBuilt && plan.cost && fits(*plan.cost, budget))
        return &plan.choice;
      if (plan.least.fit(budget))
        push(pushed);
    }
    if (mostBuilt && evaluated >= *mostBuilt)
      return static_cast<const PlanChoice *>(nullptr);
    const int64_t bound = std::min(below, open.empty() ? INT64_MAX : std::get<0>(open.top()));
    const auto next = llvm::find_if(
        unlisted, [&](const Placement &placement) { return placement.least.fit(budget); });
    if (next != unlisted.end() && (plans.empty() || next->leastBytes < bound ||
                                   (bound < below && next->leastBytes == bound))) {
      if (failed(list(next - unlisted.begin())))
        return failure();
      continue;
    }
    if (open.empty() || bound >= below)
      return static_cast<const PlanChoice *>(nullptr);
    const size_t index = std::get<2>(open.top());
    open.pop();
    Plan &plan = plans[index];
    if (!plan.cost) {
      raiseBound(plan);
      if (plan.leastBytes == bound && failed(evaluate(plan)))
        return failure();
      if (mostBuilt && plan.cost && fits(*plan.cost, budget))
        return &plan.choice;
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

FailureOr<const PlanChoice *> PlanSearch::findSmallest(const Budget &budget, int64_t below) {
  return findSmall(budget, below, /*mostBuilt=*/std::nullopt);
}

LogicalResult PlanSearch::evaluateAll() {
  if (failed(listUpTo({})))
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

FailureOr<std::optional<int64_t>> PlanSearch::findLeast(TierBytes PlanCost::*tier,
                                                        const Budget &others) {
  if (failed(evaluateAll()))
    return failure();
  std::optional<int64_t> least;
  for (Plan &plan : plans) {
    TierBytes &bytes = (*plan.cost).*tier;
    if ((!least || bytes.least() < *least) && fits(*plan.cost, others))
      least = std::min(least.value_or(INT64_MAX), bytes.packed());
  }
  return least;
}

bool PlanSearch::exceeds(const Budget &budget) const {
  return llvm::any_of(unlisted, [&](const Placement &p) { return !p.least.fit(budget); }) ||
         llvm::any_of(plans, [&](const Plan &p) {
           return p.cost && !(within(p.cost->host.least(), budget.host) &&
                              within(p.cost->nvme.least(), budget.nvme));
         });
}

FoundPlanAttr PlanSearch::found(MLIRContext *context, const PlanChoice *choice, bool fits) const {
  int64_t recompute = -1;
  if (choice->activations)
    recompute = llvm::find_if(*ladder,
                              [&](const RecomputePlan &plan) {
                                return &plan.activations == choice->activations;
                              }) -
                ladder->begin();
  return FoundPlanAttr::get(context, attributeOf(context, *choice), recompute, fits, size(),
                            evaluated);
}

FailureOr<const PlanChoice *> PlanSearch::takeOver(FoundPlanAttr found) {
  const int64_t recompute = found.getRecompute(), ways = ladder ? int64_t(ladder->size()) : 0;
  if (recompute < -1 || recompute >= ways || (recompute < 0) != (ways == 0))
    return emitError(module.getLoc()) << "expected a plan of this program, which has " << ways
                                      << " ways to recompute, got " << found;
  Plan &plan = plans.emplace_back();
  plan.choice = choiceOf(found.getPlan());
  if (ladder)
    plan.choice.activations = &(*ladder)[recompute].activations;
  if (failed(evaluate(plan)))
    return failure();
  if (failed(simulatePacked(plan)))
    return failure();
  considered = found.getConsidered() - 1;
  evaluated = found.getBuilt();
  return &plan.choice;
}

PlanSearch::Plan &PlanSearch::planOf(const PlanChoice *choice) {
  return *llvm::find_if(plans, [&](const Plan &plan) { return &plan.choice == choice; });
}

PlanCost &PlanSearch::costOf(const PlanChoice *choice) { return *planOf(choice).cost; }

} // namespace zero
