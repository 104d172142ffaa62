//===- PlanTiles.cpp - choose tiles within a budget -----------------------===//
//
// The pass `zero-plan-tiles`: tries limits of tiles up to their plans, before parameters
// are cut. With --zero=auto the limit with the fastest plan is written on the module; else,
// where no plan fits as the flags are, the largest one that helps, for the refusal.
//
// Which limits are tried does not depend on the budget, as plans do not: halves of the
// largest parameter.
//
//===----------------------------------------------------------------------===//

#include "TileTrial.h"
#include "zero/PlanSearch/Passes.h"

#include "zero/Analysis/StepOps.h"
#include "zero/Planning/ByteSize.h"
#include "zero/Transforms/Plan.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"

#include <thread>

using namespace mlir;

namespace zero {

/// How often the largest parameter is halved: where a planner chooses, and where a way out
/// is looked for.
static constexpr int kHalves = 2, kHalvesOfFitting = 4;

bool plansTiles(const PhaseOptions &options) {
  return options.plan.limitsMemory() && !options.import.forwardOnly && options.dataRanks() > 1 &&
         options.ranks() == options.dataRanks() &&
         (options.place.stage == 3 || options.plan.isAuto());
}

/// Bytes of the largest parameter, or of the largest tile of one.
static uint64_t largestPart(ModuleOp module, uint64_t limit) {
  uint64_t largest = 0;
  for (auto parameter : module.getOps<ParameterOp>())
    if (!parameter.getBlocks()) // those are no tiles
      largest = std::max<uint64_t>(largest, tensorBytes(parameter.getTensorType()));
  return limit ? std::min(limit, largest) : largest;
}

namespace {
class PlanTiles : public PassWrapper<PlanTiles, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlanTiles)

  PlanTiles(const PhaseOptions &given, const planning::Machine &machine)
      : options(std::make_shared<PhaseOptions>()), machine(machine) {
    options->copyOptionValuesFrom(given);
  }

  StringRef getArgument() const override { return "zero-plan-tiles"; }
  StringRef getDescription() const override {
    return "Choose the tiles of parameters within a budget";
  }

  void runOnOperation() override {
    if (getOperation()->hasAttr(kStatePlanAttr))
      return; // the tiles are those of the first shape
    const UntiledProgram program(getOperation());
    const uint64_t given = options->differentiate.tileParamsOver.getValue();
    std::unique_ptr<TileTrial> asked = attempt(program, {});
    if (!asked)
      return; // the phases that follow say why
    if (options->plan.isAuto() && given == 0)
      choose(program, std::move(asked));
    else if (asked->findFastest())
      takeOver(*asked);
    else if (uint64_t(asked->getFloor().state) < asked->getBudget().memory)
      findFittingTiles(program, given);
  }

private:
  struct Trial {
    uint64_t limit = 0; ///< bytes of a tile; 0: as the flags say
    std::unique_ptr<TileTrial> trial;
    std::optional<TileTrial::Found> fastest;
  };
  using Trials = std::vector<Trial>;

  std::unique_ptr<TileTrial> attempt(const UntiledProgram &program, std::optional<uint64_t> limit) {
    return TileTrial::create(program, limit, *options, machine);
  }
  void choose(const UntiledProgram &program, std::unique_ptr<TileTrial> whole);
  bool takeFastest(const Trials &trials);
  void takeSmallest(const Trials &trials);
  void takeOver(const TileTrial &trial, uint64_t limit = 0);
  void findFittingTiles(const UntiledProgram &program, uint64_t given);

  std::shared_ptr<PhaseOptions> options;
  planning::Machine machine;
};
} // namespace

/// Writes what the phases that follow need to create the plan of `trial`.
void PlanTiles::takeOver(const TileTrial &trial, uint64_t limit) {
  ModuleOp module = getOperation();
  module->setAttr(kFoundPlanAttr, trial.foundPlan(&getContext()));
  if (limit)
    module->setAttr(kTilesAttr, Builder(module.getContext()).getI64IntegerAttr(int64_t(limit)));
}

void PlanTiles::choose(const UntiledProgram &program, std::unique_ptr<TileTrial> whole) {
  const uint64_t largest = largestPart(getOperation(), 0);
  Trials trials(1 + kHalves);
  trials.front().trial = std::move(whole);
  // Each trial has a context of its own, and none depends on what another finds.
  std::vector<std::thread> threads;
  for (auto [half, trial] : llvm::enumerate(trials))
    threads.emplace_back([&, half, &trial = trial] {
      if (half > 0) {
        trial.limit = llvm::divideCeil(largest, uint64_t(1) << half);
        trial.trial = attempt(program, trial.limit);
      }
      if (trial.trial)
        trial.fastest = trial.trial->findFastest();
    });
  for (std::thread &thread : threads)
    thread.join();
  llvm::erase_if(trials, [](const Trial &trial) { return !trial.trial; });
  if (!takeFastest(trials))
    takeSmallest(trials);
}

/// Takes the fastest plan that fits, if there is one; of equals that with the larger tiles.
bool PlanTiles::takeFastest(const Trials &trials) {
  const Trial *best = nullptr;
  for (const Trial &trial : trials)
    if (trial.fastest && (!best || trial.fastest->weighted < best->fastest->weighted))
      best = &trial;
  if (!best)
    return false;
  takeOver(*best->trial, best->limit);
  const bool wholeFits = trials.front().limit == 0 && trials.front().fastest;
  ModuleOp module = getOperation();
  if (auto chosen = module->getAttrOfType<IntegerAttr>(kTilesAttr))
    remark::passed(module.getLoc(), remark::RemarkOpts::name("chosen").category("plan"))
        << "tiles of parameters above " + planning::formatBytes(double(chosen.getInt())) + ": " +
               (wholeFits ? "the fastest plan without tiles is slower"
                          : "no plan without tiles fits");
  return true;
}

/// Takes the plan that needs the least memory, for the refusal; of equals that with the larger
/// tiles. Those with the smallest tiles are first, since they need the least as a rule.
void PlanTiles::takeSmallest(const Trials &trials) {
  int64_t below = INT64_MAX;
  std::optional<MemoryFloor> floor;
  for (const auto &[limit, trial, fastest] : llvm::reverse(trials)) {
    if (std::optional<TileTrial::Found> found = trial->findSmallest(below)) {
      below = found->peak + 1;
      getOperation()->removeAttr(kTilesAttr);
      takeOver(*trial, limit);
    }
    if (!floor || trial->getFloor().total() < floor->total())
      floor = trial->getFloor();
  }
  writeTilesFloor(getOperation(), *floor);
}

void PlanTiles::findFittingTiles(const UntiledProgram &program, uint64_t given) {
  const uint64_t largest = largestPart(getOperation(), given);
  for (int half = 1; half <= kHalvesOfFitting; ++half) {
    const uint64_t limit = llvm::divideCeil(largest, uint64_t(1) << half);
    std::unique_ptr<TileTrial> trial = attempt(program, limit);
    if (!trial)
      continue;
    if (std::optional<TileTrial::Found> found = trial->findFastest())
      return writeFittingTiles(getOperation(), {limit, found->seconds, found->peak});
  }
}

std::unique_ptr<Pass> createPlanTiles(const PhaseOptions &options,
                                      const planning::Machine &machine) {
  return std::make_unique<PlanTiles>(options, machine);
}

} // namespace zero
