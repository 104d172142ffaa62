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
    const int64_t filled = toFill(choice), least = leastMemory(device, host);
    auto add = [&](bool fills, int64_t onHost, int64_t disk) {
      Placement &placement = placements.emplace_back();
      placement.choice = choice;
      placement.fills = fills;
      placement.leastBytes = least;
      placement.least = {onHost, disk};
    };
    const bool mayFill =
        filled != 0 && !module->hasAttr(kStatePlanAttr) && options.offload.optimizer.isAuto();
    if (mayFill && choice.optimizer == Tier::Nvme)
      add(/*fills=*/true, host, std::max<int64_t>(nvme - filled, 0));
    if (mayFill && choice.optimizer == Tier::Host && choice.gradients == Tier::Device)
      add(/*fills=*/true, std::max<int64_t>(host - filled, 0), nvme);
    add(/*fills=*/false, host, nvme);
  }
  llvm::stable_sort(placements, [](const Placement &a, const Placement &b) {
    return a.leastBytes < b.leastBytes;
  });
  for (auto [index, placement] : llvm::enumerate(placements))
    placement.order = index * kMostPlans;
  floor.state = placements.front().leastBytes;
  return success();
}

/// Lists the plans of a placement.
LogicalResult PlanSearch::list(Placement &placement) {
  placement.isListed = true;
  Placement next = placement;
  if (ladder)
    next.choice.activations = &ladder->front().activations;
  const size_t begin = plans.size();
  LogicalResult added = !next.fills                           ? addPlans(next)
                        : isShared                            ? addFilledMemory(next)
                        : next.choice.optimizer == Tier::Host ? addFilledDevice(next)
                                                              : addFilledHost(next);
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

/// Placements of optimizer state on nvme: as much of it on the host as a budget allows, which saves
/// time of the links of the disk.
LogicalResult PlanSearch::addFilledHost(Placement placement) {
  PlanChoice &choice = placement.choice;
  choice.optimizerNear = toFill(choice);
  FailureOr<Evaluation> evaluation = make(choice, /*mayBeEmpty=*/false);
  if (failed(evaluation))
    return failure();
  const bool fits = excessOf(choice, evaluation->getCost()) == 0;
  return fits && choice.optimizerNear ? addPlans(placement, *evaluation) : success();
}

/// Calls add() for each way to recompute, with the seconds that takes and the bytes that are saved.
void PlanSearch::forEachRecomputation(
    function_ref<void(const ActivationPlan *, double, int64_t)> add) const {
  if (!ladder)
    return add(nullptr, 0, 0);
  for (const RecomputePlan &recompute : *ladder)
    add(&recompute.activations, recompute.leastSeconds, recompute.leastBytes);
}

/// The same in memory that the host shares with the device: each way to recompute leaves another
/// part of it, which is filled when the plan is built. What does not fit there at least is read
/// from the disk and written back.
LogicalResult PlanSearch::addFilledMemory(Placement placement) {
  placement.choice.optimizerNear = toFill(placement.choice);
  ++evaluated;
  FailureOr<Evaluation> evaluation = Evaluation::create(module, placement.choice, options, machine);
  if (failed(evaluation))
    return failure();
  if (!programs.insert(evaluation->hashProgram()).second)
    return success();
  const MemoryFloor own = evaluation->findFloor();
  const int64_t state = own.state + placement.least.host;
  const int64_t least = state + std::max(own.launch, evaluation->leastWorking());
  const int64_t all = evaluation->getCost().optimizer[size_t(Tier::Host)];
  learnWork(placement.choice, evaluation->getCost().time);
  auto add = [&](const ActivationPlan *activations, double again, int64_t saved) {
    Plan plan;
    plan.choice = placement.choice;
    plan.choice.activations = activations;
    plan.leastBytes = std::max(least, state + saved);
    plan.state = state;
    plan.least = placement.least;
    const int64_t filled = std::min(all, toFill(plan.choice) - plan.leastBytes);
    if (filled <= 0)
      return;
    plan.choice.optimizerNear = filled;
    StepTime time = evaluation->getCost().time;
    for (planning::Link link : {planning::Link::DiskRead, planning::Link::DiskWrite})
      time.transfer[size_t(link)] +=
          planning::transferSeconds(machine, link, double(all - filled), options.ranks());
    plan.leastSeconds = leastSeconds(time, again, machine);
    plans.push_back(std::move(plan));
  };
  forEachRecomputation(add);
  return success();
}

/// Optimizer state on the host, with as much of it on the device as each way to recompute leaves
/// space for: its gradients and parameters cross no link, and the host does not update it.
LogicalResult PlanSearch::addFilledDevice(Placement placement) {
  ++evaluated;
  FailureOr<Evaluation> evaluation = Evaluation::create(module, placement.choice, options, machine);
  if (failed(evaluation))
    return failure();
  const MemoryFloor own = evaluation->findFloor();
  const int64_t least = own.state + std::max(own.launch, evaluation->leastWorking());
  const int64_t all = evaluation->getCost().optimizer[size_t(Tier::Host)];
  auto add = [&](const ActivationPlan *activations, double again, int64_t saved) {
    Plan plan;
    plan.choice = placement.choice;
    plan.choice.activations = activations;
    plan.leastBytes = std::max(least, own.state + saved);
    plan.state = own.state;
    plan.least = placement.least;
    plan.choice.optimizerNear = std::min(all, toFill(plan.choice) - plan.leastBytes);
    if (plan.choice.optimizerNear <= 0 || plan.choice.optimizerNear == all)
      return; // nothing, or the placement of all state on the device
    StepTime time = evaluation->getCost().time;
    const double left = 1 - double(plan.choice.optimizerNear) / double(all);
    time.host *= left;
    for (double &seconds : time.transfer)
      seconds *= left;
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
  if (!placement.choice.optimizerNear)
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
