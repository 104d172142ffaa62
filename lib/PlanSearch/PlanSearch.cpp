//===- PlanSearch.cpp - search for plans within a budget ------------------===//

#include "PlanSearch.h"

#include "zero/Analysis/StepFunction.h"
#include "zero/Transforms/Plan.h"

#include <queue>

using namespace mlir;

namespace zero {

static Budget budgetOf(const PhaseOptions &options, const planning::Machine &machine) {
  const phase::PlanOptions &plan = options.plan;
  const uint64_t shared = options.sharedBudget(machine);
  return {shared ? shared : uint64_t(plan.memoryBudget.getValue()),
          plan.activationBudget.getValue(), plan.hostBudget.getValue(), plan.nvmeBudget.getValue(),
          plan.driveWrites.getValue()};
}

PlanSearch::PlanSearch(ModuleOp module, const PhaseOptions &options,
                       const planning::Machine &machine)
    : module(module), options(options), machine(machine), given(budgetOf(options, machine)),
      isShared(options.plan.sharesMemory()) {}

bool PlanSearch::OffDevice::fit(const Budget &budget) const {
  return within(host, budget.host) && within(nvme, budget.nvme);
}

/// Number of attempts to fill the host: the staged bytes depend on the bytes on the host.
static constexpr int kFillings = 6;

/// The bytes beyond the memory that state may fill, or 0.
int64_t PlanSearch::memoryExcess(const PlanCost &cost) const {
  const int64_t bytes = leastMemory(cost.device.roughly(), cost.host.roughly());
  return std::max<int64_t>(bytes - int64_t(given.memory), 0);
}

/// The bytes beyond the budget of the host, or 0.
int64_t PlanSearch::hostExcess(PlanCost &cost) const {
  const auto most = int64_t(given.host);
  if (cost.host.least() > most)
    return cost.host.least() - most;
  return cost.host.fits(most) ? 0 : cost.host.packed() - most;
}

/// Builds the program for `choice`. If state that fills the host exceeds its budget, less of it is
/// placed there; the amount that fits depends on all choices. Without `mayBeEmpty` the program
/// exceeds the budget if no amount fits.
FailureOr<Evaluation> PlanSearch::make(PlanChoice &choice, bool mayBeEmpty) {
  for (int turn = 1;; ++turn) {
    ++evaluated;
    FailureOr<Evaluation> evaluation = Evaluation::create(module, choice, options, machine);
    int64_t &filled = choice.nearer.host;
    if (failed(evaluation) || filled == 0 || isShared || turn == kFillings)
      return evaluation;
    PlanCost &cost = evaluation->getCost();
    const int64_t excess = hostExcess(cost);
    if (excess == 0)
      return evaluation;
    filled = std::max<int64_t>(cost.nearer.host - excess, 0);
    if (filled == 0 && !mayBeEmpty)
      return evaluation;
  }
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

/// Memory may be filled too much: the plan has no cost then, but fills less, for which the
/// step takes no less time.
LogicalResult PlanSearch::evaluate(Plan &plan) {
  if (plan.cost)
    return success();
  FailureOr<Evaluation> evaluation = make(plan.choice);
  if (failed(evaluation))
    return failure();
  if (int64_t &filled = filledMemory(plan.choice.nearer); filled && ++plan.fillings < kFillings) {
    PlanCost &cost = evaluation->getCost();
    if (const int64_t excess = memoryExcess(cost)) {
      plan.leastSeconds = std::max(plan.leastSeconds, cost.time.seconds);
      filled = std::max<int64_t>(filledMemory(cost.nearer) - excess, 0);
      return success();
    }
  }
  int64_t &least = leastBesideState[commonOf(plan.choice)];
  least = std::max(least, evaluation->leastOnOtherTiers());
  plan.cost = std::move(evaluation->getCost());
  plan.leastBytes = leastMemory(plan.cost->device.least(), plan.cost->host.least());
  builtPlan = &plan;
  built = std::move(*evaluation);
  return success();
}

int64_t PlanSearch::memoryOf(PlanCost &cost) const {
  return cost.device.packed() + (isShared ? cost.host.packed() : 0);
}

bool PlanSearch::isMemoryPacked(const PlanCost &cost) const {
  return cost.device.isPacked() && (!isShared || cost.host.isPacked());
}

/// `most`: 0: no limit.
bool PlanSearch::fitsMemory(PlanCost &cost, int64_t most) const {
  if (!isShared || most == 0)
    return cost.device.fits(most);
  return cost.device.fitsWith(cost.host, most);
}

/// A plan that certainly does not fit is not packed.
bool PlanSearch::fits(PlanCost &cost, const Budget &budget) const {
  return within(cost.activations, budget.activations) &&
         within(leastMemory(cost.device.least(), cost.host.least()), budget.memory) &&
         within(cost.host.least(), budget.host) && within(cost.nvme.least(), budget.nvme) &&
         keepsWrites(cost, budget) && fitsMemory(cost, int64_t(budget.memory)) &&
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
/// packed values, or programs beside a plan that fits, with so many ops of the step in all: those
/// of large steps take long.
static constexpr double kNearlyFastest = 0.01;
static constexpr int64_t kMostPackedOps = 200'000, kMostBuiltOps = 100'000;

/// A search for any plan that fits builds so many programs in the order of memory, or more as long
/// as they have so many ops in all; once one fits, a few in the order of time.
static constexpr int64_t kFittingPrograms = 16, kFittingOps = 24'000;
static constexpr size_t kFasterPrograms = 8;

/// Whether a step with these choices certainly writes to the disk: not if frozen parameters are all
/// that is there, or if state that fills memory leaves nothing.
static bool writesToDisk(const PlanChoice &choice, bool fills) {
  return choice.swapNvme > 0 ||
         (!fills && (choice.gradients == Tier::Nvme || choice.optimizer == Tier::Nvme));
}

/// A disk wears out by what is written, so a plan that uses one has to gain something.
double PlanSearch::weigh(double seconds, bool writes) const {
  return writes ? seconds * (1 + options.plan.offloadGain / 100) : seconds;
}

double PlanSearch::weightedSecondsOf(const Plan &plan) const {
  if (plan.cost)
    return weigh(plan.cost->time.seconds, plan.cost->written > 0);
  return weigh(plan.leastSeconds, writesToDisk(plan.choice, plan.choice.nearer.any()));
}

double PlanSearch::weightedSeconds(const PlanChoice *choice) {
  return weightedSecondsOf(planOf(choice));
}

/// Visits plans in order of their seconds: lower bounds, then those that wait for operands only,
/// and at last those of packed values. A plan is refined, and a placement listed, as long as no
/// other may be faster. `mostBuilt`: visits only plans that are listed, ends without a plan once
/// the search has built so many programs, and takes the first that fits.
FailureOr<const PlanChoice *> PlanSearch::findFirst(const Budget &budget, double seconds,
                                                    std::optional<size_t> mostBuilt) {
  using Entry = std::tuple<double, size_t, bool, size_t>; // seconds, order, is a plan, its index
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  size_t pushed = 0;
  auto push = [&](size_t index) {
    open.push({weightedSecondsOf(plans[index]), plans[index].order, true, index});
  };
  auto boundOf = [&](const Placement &placement) {
    return weigh(leastSecondsOf(placement), writesToDisk(placement.choice, placement.fill.any()));
  };
  auto pushPlacement = [&](size_t index) {
    open.push({boundOf(placements[index]), placements[index].order, false, index});
  };
  for (size_t index = 0; index < placements.size() && !mostBuilt; ++index)
    if (!placements[index].isListed && mayFit(placements[index], budget))
      pushPlacement(index);
  const PlanChoice *best = nullptr;
  for (int64_t packedOps = 0, builtOps = 0;
       packedOps < kMostPackedOps && builtOps < kMostBuiltOps;) {
    for (; pushed < plans.size(); ++pushed)
      push(pushed);
    if (open.empty())
      break;
    const auto [least, order, isPlan, index] = open.top();
    if (least >= seconds * (best ? 1 - kNearlyFastest : 1))
      break;
    open.pop();
    if (!isPlan) {
      Placement &placement = placements[index];
      if (boundOf(placement) > least)
        pushPlacement(index); // more is known by now
      else if (failed(list(placement)))
        return failure();
      continue;
    }
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
      builtOps += best ? numOps : 0;
      // Where no other can be much faster, packing is not put off: the program is there.
      const bool isNear = plan.cost && weightedSecondsOf(plan) * (1 - kNearlyFastest) <= least;
      if (!isNear || !fits(*plan.cost, budget)) {
        push(index);
        continue;
      }
    }
    if (failed(simulatePacked(plan)))
      return failure();
    if (!keepsWrites(*plan.cost, budget))
      continue;
    packedOps += numOps;
    if (const double now = weightedSecondsOf(plan); now < seconds) {
      seconds = now;
      best = &plan.choice;
      if (mostBuilt)
        return best;
    }
  }
  return best;
}

FailureOr<const PlanChoice *> PlanSearch::findFastest(const Budget &budget) {
  return findFirst(budget, std::numeric_limits<double>::infinity(), /*mostBuilt=*/std::nullopt);
}

FailureOr<const PlanChoice *> PlanSearch::findFitting(const Budget &budget) {
  const int64_t below = budget.memory ? int64_t(budget.memory) + 1 : INT64_MAX;
  const auto most = size_t(std::max(kFittingPrograms, kFittingOps / numOps));
  takesAny = true;
  FailureOr<const PlanChoice *> fitting = findSmall(budget, below, evaluated + most);
  if (failed(fitting) || !*fitting)
    return fitting;
  Plan &plan = planOf(*fitting);
  if (failed(simulatePacked(plan)))
    return failure();
  const bool keeps = keepsWrites(*plan.cost, budget);
  const double seconds = keeps ? weightedSeconds(*fitting) : HUGE_VAL;
  FailureOr<const PlanChoice *> faster = findFirst(budget, seconds, evaluated + kFasterPrograms);
  return failed(faster) || *faster || !keeps ? faster : fitting;
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
    const auto next = llvm::find_if(placements, [&](const Placement &placement) {
      return !placement.isListed && placement.least.fit(budget);
    });
    if (next != placements.end() && (plans.empty() || next->leastBytes < bound ||
                                     (bound < below && next->leastBytes == bound))) {
      if (failed(list(*next)))
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
    } else if (isMemoryPacked(*plan.cost) && plan.leastBytes == memoryOf(*plan.cost)) {
      if (budget.dailyWrites && failed(simulatePacked(plan)))
        return failure();
      if (keepsWrites(*plan.cost, budget))
        return &plan.choice;
      continue;
    } else {
      plan.leastBytes = memoryOf(*plan.cost);
    }
    push(index);
  }
}

FailureOr<const PlanChoice *> PlanSearch::findSmallest(const Budget &budget, int64_t below) {
  return findSmall(budget, below, /*mostBuilt=*/std::nullopt);
}

LogicalResult PlanSearch::evaluateAll() {
  if (failed(listAll()))
    return failure();
  for (Plan &plan : plans)
    while (!plan.cost)
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
  return llvm::any_of(placements,
                      [&](const Placement &p) { return !p.isListed && !p.least.fit(budget); }) ||
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
