//===- Placements.cpp - placements of state that a planner tries ----------===//

#include "Placements.h"

#include "dialects/Zero/Mesh.h"
#include "zero/Analysis/StepFunction.h"
#include "zero/Analysis/StepOps.h"
#include "zero/Transforms/Plan.h"

#include <set>

using namespace mlir;

namespace zero {

/// With --zero=auto: the number of sets of persistent parameters that are tried at stage 3.
static constexpr size_t kPersistentSets = 3;

namespace {
class PlacementLister {
public:
  PlacementLister(ModuleOp module, const PhaseOptions &options, const planning::Machine &machine)
      : module(module), options(options), machine(machine) {}

  std::vector<PlanChoice> list() const { return withOrders(withTiers(ofStages())); }

private:
  PlanChoice asked() const;
  std::vector<PlanChoice> ofStages() const;
  std::vector<PlanChoice> ofTiles() const;
  std::vector<PlanChoice> withNodes(std::vector<PlanChoice> choices) const;
  std::vector<PlanChoice> withTiers(const std::vector<PlanChoice> &placements) const;
  std::vector<PlanChoice> withOrders(std::vector<PlanChoice> choices) const;

  ModuleOp module;
  const PhaseOptions &options;
  const planning::Machine &machine;
};
} // namespace

PlanChoice PlacementLister::asked() const {
  PlanChoice choice;
  choice.stage = options.place.stage;
  choice.ranks = options.dataRanks();
  choice.persistUnder = options.place.persistUnder.getValue();
  choice.bucketBytes = options.place.bucketBytes.getValue();
  choice.params = options.offload.params.fixed(Tier::Device);
  choice.gradients = options.offload.gradients.fixed(Tier::Device);
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
std::vector<PlanChoice> PlacementLister::ofTiles() const {
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
std::vector<PlanChoice> PlacementLister::ofStages() const {
  // One rank has all parameters at any stage; at stage 3 they may leave the device.
  const bool isAlone = options.dataRanks() == 1;
  if (!options.plan.isAuto() || (isAlone && !options.offload.params.isAuto()))
    return {asked()};
  if (module->hasAttr(kTilesAttr))
    return ofTiles();
  std::vector<PlanChoice> all;
  for (unsigned stage : {0, 1, 2, 3}) {
    if (isAlone && (stage == 1 || stage == 2))
      continue;
    PlanChoice choice = asked();
    choice.stage = stage;
    for (uint64_t size :
         stage == 3 && !isAlone ? persistentSizes(module) : std::vector<uint64_t>{0}) {
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
std::vector<PlanChoice> PlacementLister::withNodes(std::vector<PlanChoice> choices) const {
  const int64_t given = options.place.ranksPerNode, tensorRanks = Mesh(module).tensorRanks();
  const int64_t each = given ? given : machine.network.ranksPerNode, ranks = options.dataRanks();
  const int64_t local = each % tensorRanks == 0 ? each / tensorRanks : 0;
  const bool isCut =
      Mesh(module).contextRanks() == 1 && local > 1 && local < ranks && ranks % local == 0;
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
/// omitted if the host has space for everything. The host is omitted if it shares its memory with
/// the device. Parameters, which each micro-batch reads, are
/// never placed further away than optimizer state, which a step reads once, if both are free.
/// Gradients that a planner places wait on the device or where they are updated.
std::vector<PlanChoice>
PlacementLister::withTiers(const std::vector<PlanChoice> &placements) const {
  const phase::OffloadOptions &offload = options.offload;
  SmallVector<Tier> tiers{Tier::Device};
  const bool isShared = options.plan.sharesMemory();
  if (!isShared)
    tiers.push_back(Tier::Host);
  if (isShared || options.plan.hostBudget.getValue() != 0)
    tiers.push_back(Tier::Nvme);
  auto tiersOf = [&](bool isFree, const Tier &given) {
    return isFree ? ArrayRef<Tier>(tiers) : ArrayRef<Tier>(given);
  };
  // One rank: stage 3 with all parameters on the device is stage 0.
  const bool isStageZero = options.dataRanks() == 1 && options.plan.isAuto();
  std::vector<PlanChoice> all;
  for (PlanChoice choice : placements) {
    const PlanChoice given = choice;
    const bool isFree = offload.params.isAuto() && choice.stage == 3 && choice.nodeRanks == 0;
    for (Tier params : tiersOf(isFree, given.params))
      for (Tier optimizer : tiersOf(offload.optimizer.isAuto(), given.optimizer)) {
        if (isFree && ((offload.optimizer.isAuto() && params > optimizer) ||
                       (isStageZero && params == Tier::Device)))
          continue;
        choice.params = params;
        choice.optimizer = optimizer;
        all.push_back(choice);
        if (offload.gradients.isAuto() && optimizer != Tier::Device) {
          all.push_back(choice);
          all.back().gradients = Tier::Host;
        }
      }
  }
  return all;
}

/// With --micro-batch-order=auto: each choice in both orders.
std::vector<PlanChoice> PlacementLister::withOrders(std::vector<PlanChoice> choices) const {
  if (!options.place.microBatchOrder.isAuto() || microBatchesOf(module) == 1)
    return choices;
  const size_t count = choices.size();
  for (size_t i = 0; i < count; ++i) {
    choices.push_back(choices[i]);
    choices.back().interleave = true;
  }
  return choices;
}

std::vector<PlanChoice> listPlacements(ModuleOp module, const PhaseOptions &options,
                                       const planning::Machine &machine) {
  if (auto first = module->getAttrOfType<PlanAttr>(kStatePlanAttr)) {
    PlanChoice choice = choiceOf(first);
    choice.swapHost = choice.swapNvme = 0; // values of a step are its own
    return {choice};
  }
  return PlacementLister(module, options, machine).list();
}

std::array<int64_t, 3> stateBytes(ModuleOp module, const PlanChoice &placement) {
  const int64_t ranks = placement.ranks;
  const int64_t sharing = placement.nodeRanks ? placement.nodeRanks : ranks;
  std::array<int64_t, 3> bytes{};
  auto add = [&](Tier tier, int64_t own, int64_t shards) { bytes[size_t(tier)] += own / shards; };
  for (Operation &op : *module.getBody()) {
    if (auto parameter = dyn_cast<ParameterOp>(op)) {
      const int64_t own = tensorBytes(parameter.getTensorType());
      const bool isWhole = placement.stage < 3 || uint64_t(own) < placement.persistUnder;
      add(isWhole ? Tier::Device : placement.params, own, isWhole ? 1 : sharing);
    } else if (auto state = dyn_cast<StateOp>(op)) {
      const bool isOptimizer = state.getOf().has_value();
      add(isOptimizer ? placement.optimizer : Tier::Device, tensorBytes(state.getTensorType()),
          isOptimizer && placement.stage >= 1 ? ranks : 1);
    }
  }
  return bytes;
}

} // namespace zero
