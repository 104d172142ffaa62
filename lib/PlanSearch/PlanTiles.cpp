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

#include "TileTrials.h"
#include "zero/PlanSearch/Passes.h"

#include "zero/Analysis/StepOps.h"
#include "zero/Planning/ByteSize.h"
#include "zero/Transforms/Plan.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace zero {

/// How often the largest parameter is halved: where a planner chooses, and where a way out
/// is looked for.
static constexpr int kHalves = 2, kHalvesOfFitting = 4;

static constexpr double kAnySeconds = std::numeric_limits<double>::infinity();

bool plansTiles(const PhaseOptions &options) {
  return options.plan.memoryBudget.getValue() != 0 && !options.import.forwardOnly &&
         options.dataRanks() > 1 && (options.place.stage == 3 || options.plan.isAuto());
}

/// Bytes of the largest parameter, or of the largest tile of one.
static uint64_t largestPart(ModuleOp module, uint64_t limit) {
  uint64_t largest = 0;
  for (auto parameter : module.getOps<ParameterOp>())
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
    TileTrials trials(getOperation(), *options, machine);
    const uint64_t given = options->differentiate.tileParamsOver.getValue();
    const bool mayChoose = options->plan.isAuto() && given == 0;
    std::optional<TileTrial> asked = trials.attempt(/*wantsSmallest=*/mayChoose);
    if (!asked)
      return; // the phases that follow say why
    if (mayChoose)
      choose(trials, *asked);
    else if (!asked->fits && uint64_t(asked->floor.state) < options->plan.memoryBudget.getValue())
      findFittingTiles(trials, given);
  }

private:
  void choose(const TileTrials &trials, const TileTrial &whole);
  void findFittingTiles(const TileTrials &trials, uint64_t given);

  std::shared_ptr<PhaseOptions> options;
  planning::Machine machine;
};
} // namespace

/// Whether a plan under `a` is to be taken rather than one under `b`.
static bool isBetter(const TileTrial &a, const TileTrial &b) {
  if (a.fits != b.fits)
    return a.fits;
  return a.fits ? a.seconds < b.seconds : a.peak < b.peak;
}

void PlanTiles::choose(const TileTrials &trials, const TileTrial &whole) {
  ModuleOp module = getOperation();
  TileTrial best = whole;
  MemoryFloor floor = whole.floor;
  uint64_t chosen = 0, largest = largestPart(module, 0);
  for (int half = 1; half <= kHalves; ++half) {
    const uint64_t limit = llvm::divideCeil(largest, uint64_t(1) << half);
    std::optional<TileTrial> trial =
        trials.attempt(limit, best.fits ? std::optional(best.seconds) : std::nullopt);
    if (!trial)
      continue;
    if (trial->floor.total() < floor.total())
      floor = trial->floor;
    if (isBetter(*trial, best)) {
      best = *trial;
      chosen = limit;
    }
  }
  if (!best.fits)
    writeTilesFloor(module, floor);
  if (!chosen)
    return;
  module->setAttr(kTilesAttr, Builder(module.getContext()).getI64IntegerAttr(int64_t(chosen)));
  const char *why =
      whole.fits ? "the fastest plan without tiles is slower" : "no plan without tiles fits";
  if (best.fits)
    remark::passed(module.getLoc(), remark::RemarkOpts::name("chosen").category("plan"))
        << "tiles of parameters above " + planning::formatBytes(double(chosen)) + ": " + why;
}

void PlanTiles::findFittingTiles(const TileTrials &trials, uint64_t given) {
  const uint64_t largest = largestPart(getOperation(), given);
  for (int half = 1; half <= kHalvesOfFitting; ++half) {
    const uint64_t limit = llvm::divideCeil(largest, uint64_t(1) << half);
    if (std::optional<TileTrial> trial = trials.attempt(limit, kAnySeconds))
      return writeFittingTiles(getOperation(), {limit, trial->seconds, trial->peak});
  }
}

std::unique_ptr<Pass> createPlanTiles(const PhaseOptions &options,
                                      const planning::Machine &machine) {
  return std::make_unique<PlanTiles>(options, machine);
}

} // namespace zero
