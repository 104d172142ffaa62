//===- ListPlans.cpp - the plans of each placement ------------------------===//

#include "PlanSearch.h"

#include "Placements.h"

#include "zero/Analysis/StepFunction.h"
#include "zero/Planning/Swap.h"
#include "zero/Transforms/Plan.h"

using namespace mlir;

namespace zero {

/// More than the plans of any placement.
static constexpr size_t kMostPlans = 1 << 20;

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
    for (Fill fill : fillsOf(choice, host + nvme)) {
      const int64_t onDevice = fill.device ? int64_t(given.memory) : 0;
      const int64_t onHost = fill.host ? hostRoom() : 0;
      Placement &placement = placements.emplace_back();
      placement.choice = choice;
      placement.fill = fill;
      placement.leastBytes = leastMemory(device, host);
      placement.least = {std::max<int64_t>(host - onDevice, 0),
                         std::max<int64_t>(nvme - onDevice - onHost, 0)};
    }
  }
  llvm::stable_sort(placements, [](const Placement &a, const Placement &b) {
    return a.leastBytes < b.leastBytes;
  });
  for (auto [index, placement] : llvm::enumerate(placements))
    placement.order = index * kMostPlans;
  floor.state = placements.front().leastBytes;
  return success();
}

/// `tier` of state that a planner chooses the tier of, or the device if `option` says it.
static Tier freeTier(const phase::TierOption &option, Tier tier) {
  return option.isAuto() ? tier : Tier::Device;
}

/// What state of `choice`, of which `offDevice` bytes are not on the device, may fill. The host is
/// a cache of the disk. State fills the device only if its gradients wait there, too.
std::vector<PlanSearch::Fill> PlanSearch::fillsOf(const PlanChoice &choice,
                                                  int64_t offDevice) const {
  const Tier farthest = std::max(freeTier(options.offload.params, choice.params),
                                 freeTier(options.offload.optimizer, choice.optimizer));
  const bool mayFill = farthest != Tier::Device && !module->hasAttr(kStatePlanAttr);
  const bool host = mayFill && farthest == Tier::Nvme && hostRoom() > 0;
  const bool device = mayFill && !isShared && given.memory != 0 && choice.gradients == Tier::Device;
  std::vector<Fill> fills;
  if (host)
    fills.push_back({/*device=*/false, /*host=*/true});
  // The disk is not needed beside a host that has space for everything.
  if (device && (farthest == Tier::Host || offDevice > hostRoom()))
    fills.push_back({/*device=*/true, host});
  fills.push_back({});
  return fills;
}

/// Lists the plans of a placement.
LogicalResult PlanSearch::list(Placement &placement) {
  placement.isListed = true;
  Placement next = placement;
  if (ladder)
    next.choice.activations = &ladder->front().activations;
  const size_t begin = plans.size();
  LogicalResult added = next.fill.any() ? addFilled(next) : addPlans(next);
  for (size_t index = begin; index < plans.size(); ++index)
    plans[index].order = placement.order + index - begin;
  return added;
}

LogicalResult PlanSearch::listAll() {
  for (Placement &placement : placements)
    if (!placement.isListed && failed(list(placement)))
      return failure();
  return success();
}

/// Whether the state alone does not exceed the budget.
bool PlanSearch::mayFit(const Placement &placement, const Budget &budget) const {
  return within(placement.leastBytes, budget.memory) && placement.least.fit(budget);
}

PlanSearch::Work PlanSearch::workOf(const PlanChoice &choice) {
  return {choice.stage, choice.persistUnder, choice.nodeRanks, choice.interleave};
}

/// A lower bound of the seconds of computing and collectives of a program that differs only in
/// tiers, which move the update, and in buckets.
static double leastWorkOf(StepTime time) {
  time.compute -= time.update;
  time.collective -= time.latency;
  time.host = 0;
  time.transfer = {};
  return time.least();
}

void PlanSearch::learnWork(const PlanChoice &choice, const StepTime &time) {
  const double bound = leastWorkOf(time);
  double &known = leastWork.try_emplace(workOf(choice), bound).first->second;
  known = std::min(known, bound);
}

/// Each step reads the state on the disk at least once.
double PlanSearch::leastSecondsOf(const Placement &placement) const {
  const auto known = leastWork.find(workOf(placement.choice));
  const double disk = planning::transferSeconds(
      machine, planning::Link::DiskRead, double(placement.least.nvme), int64_t(options.ranks()));
  return std::max(known == leastWork.end() ? 0 : known->second, disk);
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
  const auto ofHost = int64_t(given.host), ofDisk = int64_t(given.nvme);
  planning::SwapRoom room{ofHost ? std::max<int64_t>(ofHost - first.cost->host.packed(), 0)
                                 : INT64_MAX,
                          ofHost == 0 ? 0 : roomOf(ofDisk, first.cost->nvme)};
  if (isShared) // values that wait on the host would save nothing
    room = {0, roomOf(ofDisk, first.cost->nvme)};
  const int64_t grain = std::max<int64_t>(choices.front().bytes / kSwapParts, 1);
  // Room for less than a part, as --nvme-budget=1 leaves, gives the plans without swaps once more.
  for (int64_t *bytes : {&room.host, &room.disk})
    if (*bytes < grain)
      *bytes = 0;
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
  for (const planning::Swap &swap : planning::listSwaps(choices, lanes, room, grain))
    add(swap.choice, swap.host, swap.disk, choices[swap.choice].bytes - swap.host - swap.disk);
  // What --offload-activations says without a planner: everything, or what there is room for, on
  // one tier.
  auto leftOf = [&](size_t way, int64_t moved) {
    return std::max<int64_t>(choices[way].bytes - moved, 0);
  };
  for (size_t way = 0; way < choices.size(); ++way)
    if (!ladder || (*ladder)[way].isFlag) {
      add(way, room.host, 0, leftOf(way, room.host));
      add(way, 0, room.disk, leftOf(way, room.disk));
    }
}

LogicalResult PlanSearch::addPlans(Placement placement) {
  FailureOr<Evaluation> evaluation = make(placement.choice);
  return failed(evaluation) ? failure() : addPlans(placement, *evaluation);
}

/// The order in which parameters and optimizer state fill tiers, if both do: that of the shorter
/// step with half of each tier filled, because the seconds for each byte depend on all lanes.
FailureOr<StateOrder> PlanSearch::orderOf(PlanChoice choice, Fill fill) {
  const Tier nearest = fill.device ? Tier::Device : Tier::Host;
  if (freeTier(options.offload.params, choice.params) <= nearest)
    return StateOrder::Optimizer;
  if (freeTier(options.offload.optimizer, choice.optimizer) <= nearest)
    return StateOrder::Params;
  if (takesAny)
    return StateOrder::OptimizerParams;
  choice.nearer = {fill.device ? int64_t(given.memory) / 2 : 0, fill.host ? hostRoom() / 2 : 0};
  double seconds = HUGE_VAL;
  StateOrder fastest = StateOrder::OptimizerParams;
  for (StateOrder order : {StateOrder::OptimizerParams, StateOrder::ParamsOptimizer}) {
    choice.nearer.order = order;
    ++evaluated;
    FailureOr<Evaluation> evaluation = Evaluation::create(module, choice, options, machine);
    if (failed(evaluation))
      return failure();
    if (const double now = evaluation->getCost().time.seconds; now < seconds) {
      seconds = now;
      fastest = order;
    }
  }
  return fastest;
}

/// Placements of which state fills nearer tiers: as much as their budgets allow, which saves time
/// of links.
LogicalResult PlanSearch::addFilled(Placement placement) {
  PlanChoice &choice = placement.choice;
  FailureOr<StateOrder> order = orderOf(choice, placement.fill);
  if (failed(order))
    return failure();
  choice.nearer = {0, placement.fill.host ? hostRoom() : 0, *order};
  FailureOr<Evaluation> evaluation = make(choice, /*mayBeEmpty=*/false);
  if (failed(evaluation))
    return failure();
  if (isShared || placement.fill.device)
    return addFilledMemory(placement, *evaluation);
  if (hostExcess(evaluation->getCost()) > 0 || !choice.nearer.any())
    return success();
  if (!takesAny && failed(fillLess(choice, *evaluation)))
    return failure();
  return addPlans(placement, *evaluation);
}

/// Fills three quarters or half as much of the host if a step takes less time then: updates share
/// what backward fetches, and transfers begin earlier, if the host has space for that.
LogicalResult PlanSearch::fillLess(PlanChoice &choice, Evaluation &evaluation) {
  const int64_t all = choice.nearer.host;
  for (int64_t quarters : {3, 2}) {
    PlanChoice less = choice;
    less.nearer.host = all / 4 * quarters;
    ++evaluated;
    FailureOr<Evaluation> tried = Evaluation::create(module, less, options, machine);
    if (failed(tried))
      return failure();
    PlanCost &cost = tried->getCost();
    if (cost.time.seconds >= evaluation.getCost().time.seconds || hostExcess(cost) > 0 ||
        !within(cost.nvme.least(), given.nvme))
      break;
    choice = less;
    evaluation = std::move(*tried);
  }
  return success();
}

/// Calls add() for each way to recompute, with the seconds that takes and the bytes that are saved.
void PlanSearch::forEachRecomputation(
    function_ref<void(const ActivationPlan *, double, int64_t)> add) const {
  if (!ladder)
    return add(nullptr, 0, 0);
  for (const RecomputePlan &recompute : *ladder)
    add(&recompute.activations, recompute.leastSeconds, recompute.leastBytes);
}

/// A lower bound of the time of a step if `part` of the state that is not on the device were there:
/// then its gradients and parameters cross no link, and the host does not update it.
static StepTime withStateOnDevice(StepTime time, double part) {
  time.host *= 1 - part;
  for (double &seconds : time.transfer)
    seconds *= 1 - part;
  return time;
}

/// A lower bound of the time of a step if `bytes` more of the state were on the disk: they are
/// read, and written back if they are `changed`, as frozen parameters are not.
static StepTime withStateOnDisk(StepTime time, double bytes, bool changed,
                                const planning::Machine &machine, int64_t ranks) {
  auto add = [&](planning::Link link) {
    time.transfer[size_t(link)] += planning::transferSeconds(machine, link, bytes, ranks);
  };
  add(planning::Link::DiskRead);
  if (changed)
    add(planning::Link::DiskWrite);
  return time;
}

/// The plans of a placement with as much state in the memory that the budget `memory` limits as
/// each way to recompute leaves space for, which is known when a plan is built.
LogicalResult PlanSearch::addFilledMemory(const Placement &placement, Evaluation &evaluation) {
  const PlanCost &cost = evaluation.getCost();
  // Memory for less than a bucket gives the program that fills nothing, which has its own plans.
  if (isShared && !(cost.nearer.any() && programs.insert(evaluation.hashProgram()).second))
    return success();
  const MemoryFloor own = evaluation.findFloor();
  const int64_t state = leastMemory(own.state, placement.least.host);
  const int64_t least = state + std::max(own.launch, evaluation.leastWorking());
  const int64_t all =
      isShared ? cost.nearer.host : cost.state[size_t(Tier::Host)] + cost.state[size_t(Tier::Nvme)];
  // Each byte of parameters may cross links more often than one of optimizer state.
  const bool isOneKind = placement.choice.params == Tier::Device;
  learnWork(placement.choice, cost.time);
  auto add = [&](const ActivationPlan *activations, double again, int64_t saved) {
    Plan plan;
    plan.choice = placement.choice;
    plan.choice.activations = activations;
    plan.leastBytes = std::max(least, state + saved);
    plan.state = state;
    plan.least = placement.least;
    const int64_t filled = std::min(all, int64_t(given.memory) - plan.leastBytes);
    if (filled <= 0)
      return;
    filledMemory(plan.choice.nearer) = filled;
    const double part = isOneKind ? double(filled) / double(all) : 1;
    const StepTime time = isShared
                              ? withStateOnDisk(cost.time, double(all - filled),
                                                /*changed=*/isOneKind, machine, options.ranks())
                              : withStateOnDevice(cost.time, part);
    plan.leastSeconds = leastSeconds(time, again, machine);
    plans.push_back(std::move(plan));
  };
  forEachRecomputation(add);
  return success();
}

/// The plans of one placement. The first saves everything: the others take its time plus
/// recomputation, and have the same state.
LogicalResult PlanSearch::addPlans(const Placement &placement, Evaluation &evaluation) {
  // Stages 1 and 2 of one micro-batch, for example, or two limits that no bucket reaches.
  if (!programs.insert(evaluation.hashProgram()).second)
    return success();
  MemoryFloor own = evaluation.findFloor();
  OffDevice elsewhere = placement.least;
  // How much state fills the host is another for each plan.
  if (!placement.choice.nearer.any())
    elsewhere = {std::max(elsewhere.host, evaluation.leastOn(Tier::Host)),
                 std::max(elsewhere.nvme, evaluation.leastOn(Tier::Nvme))};
  own.state = leastMemory(own.state, elsewhere.host);
  if (floor.launchAt.empty() || own.total() < floor.total())
    floor = own;
  const int64_t least = own.state + std::max(own.launch, evaluation.leastWorking());
  Plan &first = plans.emplace_back();
  first.choice = placement.choice;
  first.cost = std::move(evaluation.getCost());
  learnWork(first.choice, first.cost->time);
  first.leastSeconds = leastSeconds(first.cost->time, 0, machine);
  first.leastBytes = leastMemory(first.cost->device.least(), first.cost->host.least());
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

} // namespace zero
