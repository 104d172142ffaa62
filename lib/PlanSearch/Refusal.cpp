//===- Refusal.cpp - explain why no plan fits a budget --------------------===//

#include "Refusal.h"

#include "TileTrials.h"
#include "zero/Planning/ByteSize.h"
#include "zero/Transforms/Plan.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace zero {

/// The number of largest values at the peak, and of options beside a larger budget, that the
/// message lists.
static constexpr size_t kShownValues = 5;
static constexpr size_t kShownFixes = 3;

static std::string bytesText(int64_t bytes) {
  return planning::formatBytes(double(bytes)) + " (" + std::to_string(bytes) + " bytes)";
}

namespace {

/// A change of the options under which a plan fits.
struct Fix {
  std::string flags;
  bool wantsRanks;
  double seconds;
  int64_t bytes;
};

/// Tries changes of the options, one at a time.
class FixSearch {
public:
  FixSearch(ModuleOp module, const PlanSearch &search, const PhaseOptions &options,
            const Budget &budget, const planning::Machine &machine)
      : module(module), known(search), options(options), budget(budget), machine(machine) {}

  LogicalResult run();
  /// The changes that fit: those without more ranks first, then by time of a step.
  std::vector<Fix> findFixes();

private:
  LogicalResult attempt(StringRef flag, StringRef value);

  ModuleOp module;
  const PlanSearch &known;
  const PhaseOptions &options;
  Budget budget;
  const planning::Machine &machine;
  std::vector<Fix> fixes;
};

} // namespace

LogicalResult FixSearch::attempt(StringRef flag, StringRef value) {
  PhaseOptions changed;
  changed.copyOptionValuesFrom(options);
  if (!changed.set(flag, value).empty())
    return success();
  PlanSearch search(module, changed, machine);
  if (failed(search.prepare(&known)))
    return failure();
  FailureOr<const PlanChoice *> found = search.findFastest(budget);
  if (failed(found))
    return failure();
  if (*found) {
    PlanCost &cost = search.costOf(*found);
    fixes.push_back({("--" + flag + "=" + value).str(), flag == "ranks", cost.time.seconds,
                     cost.device.packed()});
  }
  return success();
}

LogicalResult FixSearch::run() {
  // If tiers are chosen too, each change would search hundreds of plans.
  if (options.offload.params.isAuto() || options.offload.optimizer.isAuto() ||
      options.offload.activations.isAuto())
    return success();
  LogicalResult result = success();
  // Parameters are tiled before differentiation: zero-plan-tiles has tried the sizes.
  if (std::optional<FittingTiles> fitting = readFittingTiles(module))
    fixes.push_back({"--tile-params-over=" + std::to_string(fitting->limit), false,
                     fitting->seconds, fitting->bytes});
  auto tryIt = [&](StringRef flag, const Twine &value) {
    if (succeeded(result))
      result = attempt(flag, value.str());
  };
  // A step that already recomputes layers would have to be rebuilt.
  if (options.checkpointMode().is(Checkpoint::None) && options.place.checkpointSlots == 0 &&
      !options.import.forwardOnly)
    tryIt("checkpoint", "auto");
  if (options.kernels.device == Device::Cpu && !options.import.forwardOnly) {
    if (options.offload.activations.is(Tier::Device))
      tryIt("offload-activations", "host");
    if (options.offload.optimizer.is(Tier::Device))
      tryIt("offload-optimizer", "host");
  }
  const bool isFixed = !options.plan.isAuto();
  if (isFixed && options.dataRanks() > 1)
    for (unsigned stage = options.place.stage + 1; stage <= 3; ++stage)
      tryIt("zero-stage", Twine(stage));
  if (!isFixed || options.place.stage > 0)
    for (unsigned times : {2, 4, 8})
      tryIt("ranks", Twine(options.dataRanks() * times));
  if (isFixed && options.place.stage == 3)
    for (uint64_t part : {4, 16})
      tryIt("bucket-bytes",
            Twine(std::max<uint64_t>(options.place.bucketBytes.getValue() / part, 1)));
  return result;
}

std::vector<Fix> FixSearch::findFixes() {
  llvm::stable_sort(fixes, [](const Fix &a, const Fix &b) {
    return std::tie(a.wantsRanks, a.seconds) < std::tie(b.wantsRanks, b.seconds);
  });
  return std::move(fixes);
}

/// Reports that every plan exceeds the budget of activations or of the host.
static LogicalResult refuseActivations(ModuleOp module, PlanSearch &search, const Budget &budget) {
  if (!budget.activations) {
    FailureOr<int64_t> least = search.findLeastHost();
    if (failed(least))
      return failure();
    return emitError(module.getLoc())
           << "--host-budget=" << budget.host
           << ": no plan fits into this much host memory; the smallest budget with a plan is "
           << *least;
  }
  FailureOr<int64_t> least = search.findLeastActivations();
  if (failed(least))
    return failure();
  return emitError(module.getLoc()) << "--activation-budget=" << budget.activations
                                    << ": no plan saves so little for backward, including inputs; "
                                       "the smallest budget with a plan is "
                                    << *least;
}

/// Maximum bytes of a tile of a parameter, from flags or a planner; 0: parameters are not tiled.
static uint64_t tileLimit(ModuleOp module, const PhaseOptions &options) {
  if (auto planned = module->getAttrOfType<IntegerAttr>(kTilesAttr))
    return uint64_t(planned.getInt());
  return options.differentiate.tileParamsOver.getValue();
}

LogicalResult refuse(ModuleOp module, PlanSearch &search, const PhaseOptions &options,
                     const Budget &budget, const planning::Machine &machine) {
  FailureOr<const PlanChoice *> smallest = search.findSmallest(budget);
  if (failed(smallest))
    return failure();
  if (!*smallest)
    return refuseActivations(module, search, budget);
  FailureOr<Evaluation> evaluation = Evaluation::create(module, **smallest, options, machine);
  FixSearch fixes(module, search, options, budget, machine);
  if (failed(evaluation) || failed(fixes.run()))
    return failure();
  const PlanCost &cost = search.costOf(*smallest);
  const int64_t peak = search.costOf(*smallest).device.packed();
  InFlightDiagnostic error = emitError(module.getLoc());
  error << "--memory-budget=" << budget.memory << ": no plan fits into "
        << planning::formatBytes(double(budget.memory)) << " on each rank";
  const uint64_t tiles = tileLimit(module, options);
  if (tiles)
    error << " with tiles of up to " << planning::formatBytes(double(tiles));
  error << "; the smallest budget with a plan is " << peak;
  if (std::optional<FittingTiles> fitting = readFittingTiles(module); fitting && tiles)
    error.attachNote() << "tiles of up to " << planning::formatBytes(double(tiles))
                       << " are too large for this budget: with --tile-params-over="
                       << fitting->limit << " a plan fits";
  std::string live;
  std::vector<LiveValue> values = evaluation->liveAtPeak();
  values.resize(std::min(values.size(), kShownValues));
  for (const LiveValue &value : values)
    live +=
        "\n  " + bytesText(value.bytes) + ", " + usageName(value.usage).str() + ": " + value.name;
  error.attachNote() << "its peak of " << bytesText(peak) << " is at '" << evaluation->peakAt()
                     << "'; the largest live values there:" << live;
  const MemoryFloor floor = readTilesFloor(module).value_or(search.getFloor());
  error.attachNote() << "every plan needs at least " << bytesText(floor.total()) << ": "
                     << bytesText(floor.state) << " of state during the whole step, and "
                     << bytesText(floor.launch) << " that '" << floor.launchAt
                     << "' alone reads, writes and uses as workspace";
  std::string fitting =
      llvm::formatv("--memory-budget={0}: {1:F4} s a step", peak, cost.time.seconds);
  std::vector<Fix> found = fixes.findFixes();
  found.resize(std::min(found.size(), kShownFixes));
  for (const Fix &fix : found)
    fitting += llvm::formatv("\n  {0}: {1:F4} s a step in {2}", fix.flags, fix.seconds,
                             planning::formatBytes(double(fix.bytes)));
  error.attachNote() << "options with a plan that fits:\n  " << fitting;
  return failure();
}

} // namespace zero
