//===- Refusal.cpp - why no plan keeps a budget ---------------------------===//

#include "Refusal.h"

#include "TileTrials.h"
#include "zero/Planning/ByteSize.h"
#include "zero/Transforms/Plan.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace zero {

/// How many of the largest values at the peak are named, and how many ways out beside a larger
/// budget.
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

/// Tries changes, one at a time.
class FixSearch {
public:
  FixSearch(ModuleOp module, const PlanSearch &search, const PhaseOptions &options,
            const Budget &budget, const planning::Machine &machine)
      : module(module), known(search), options(options), budget(budget), machine(machine) {}

  LogicalResult run();
  /// Those that fit: without more ranks first, then the fastest step.
  std::vector<Fix> takeFixes();

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
    fixes.push_back({("--" + flag + "=" + value).str(), flag == "ranks", cost.time.total(),
                     cost.device.packed()});
  }
  return success();
}

LogicalResult FixSearch::run() {
  // With tiers to choose from each change would be a search of hundreds of plans.
  if (options.offload.params.isAuto() || options.offload.optimizer.isAuto() ||
      options.offload.activations.isAuto())
    return success();
  LogicalResult result = success();
  // Tiles are cut before a step is differentiated: zero-plan-tiles tried them.
  if (std::optional<TileWay> way = readTileWay(module))
    fixes.push_back(
        {"--tile-params-over=" + std::to_string(way->limit), false, way->seconds, way->bytes});
  auto tryIt = [&](StringRef flag, const Twine &value) {
    if (succeeded(result))
      result = attempt(flag, value.str());
  };
  // A step that runs layers again already would have to be made anew.
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
  if (isFixed && options.place.ranks > 1)
    for (unsigned stage = options.place.stage + 1; stage <= 3; ++stage)
      tryIt("zero-stage", Twine(stage));
  if (!isFixed || options.place.stage > 0)
    for (unsigned times : {2, 4, 8})
      tryIt("ranks", Twine(options.place.ranks * times));
  if (isFixed && options.place.stage == 3)
    for (uint64_t part : {4, 16})
      tryIt("bucket-bytes",
            Twine(std::max<uint64_t>(options.place.bucketBytes.getValue() / part, 1)));
  return result;
}

std::vector<Fix> FixSearch::takeFixes() {
  llvm::stable_sort(fixes, [](const Fix &a, const Fix &b) {
    return std::tie(a.wantsRanks, a.seconds) < std::tie(b.wantsRanks, b.seconds);
  });
  return std::move(fixes);
}

/// Every plan keeps more for backward than it may, whatever its memory is.
static LogicalResult refuseActivations(ModuleOp module, PlanSearch &search, const Budget &budget) {
  if (!budget.activations) {
    FailureOr<int64_t> least = search.findLeastHost();
    if (failed(least))
      return failure();
    return emitError(module.getLoc())
           << "--host-budget=" << budget.host
           << ": no plan takes so little of the host's memory; the smallest with a plan is "
           << *least;
  }
  FailureOr<int64_t> least = search.findLeastActivations();
  if (failed(least))
    return failure();
  return emitError(module.getLoc())
         << "--activation-budget=" << budget.activations
         << ": no plan keeps so little for backward, inputs included; the smallest with a plan is "
         << *least;
}

/// Most bytes of a part of a parameter, as flags or a planner say; 0: parameters are whole.
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
  if (std::optional<TileWay> way = readTileWay(module); way && tiles)
    error.attachNote() << "tiles of up to " << planning::formatBytes(double(tiles))
                       << " are too large for this budget: with --tile-params-over=" << way->limit
                       << " a plan fits";
  std::string live;
  std::vector<LiveValue> values = evaluation->liveAtPeak();
  values.resize(std::min(values.size(), kShownValues));
  for (const LiveValue &value : values)
    live +=
        "\n  " + bytesText(value.bytes) + ", " + usageName(value.usage).str() + ": " + value.name;
  error.attachNote() << "its peak of " << bytesText(peak) << " is at '" << evaluation->peakAt()
                     << "'; the largest that is live there:" << live;
  const MemoryFloor floor = readTilesFloor(module).value_or(search.getFloor());
  error.attachNote() << "no plan can take less than " << bytesText(floor.total()) << ": "
                     << bytesText(floor.state) << " of state for the whole step, and "
                     << bytesText(floor.launch) << " that '" << floor.launchAt
                     << "' alone reads, writes and works in";
  std::string ways = llvm::formatv("--memory-budget={0}: {1:F4} s a step", peak, cost.time.total());
  std::vector<Fix> found = fixes.takeFixes();
  found.resize(std::min(found.size(), kShownFixes));
  for (const Fix &fix : found)
    ways += llvm::formatv("\n  {0}: {1:F4} s a step in {2}", fix.flags, fix.seconds,
                          planning::formatBytes(double(fix.bytes)));
  error.attachNote() << "ways out, each with a plan that fits:\n  " << ways;
  return failure();
}

} // namespace zero
