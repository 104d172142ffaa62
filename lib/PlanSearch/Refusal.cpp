//===- Refusal.cpp - explain why no plan fits a budget --------------------===//

#include "Refusal.h"

#include "TileTrial.h"
#include "zero/Planning/ByteSize.h"
#include "zero/Transforms/Plan.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace zero {

/// The number of largest values at the peak, and of options beside a larger budget, that the
/// message lists.
static constexpr size_t kShownValues = 5;
static constexpr size_t kShownFixes = 4;

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
            const planning::Machine &machine)
      : module(module), known(search), options(options), machine(machine) {}

  LogicalResult run();
  /// The changes that fit: those without more ranks first, then by time of a step.
  std::vector<Fix> findFixes();

private:
  LogicalResult attempt(StringRef flag, const Twine &value);
  LogicalResult attemptMore(StringRef flag, uint64_t now);

  ModuleOp module;
  const PlanSearch &known;
  const PhaseOptions &options;
  const planning::Machine &machine;
  std::vector<Fix> fixes;
};

} // namespace

LogicalResult FixSearch::attempt(StringRef flag, const Twine &value) {
  PhaseOptions changed;
  changed.copyOptionValuesFrom(options);
  if (!changed.set(flag, value.str()).empty())
    return success();
  PlanSearch search(module, changed, machine);
  if (failed(search.prepare(&known)))
    return failure();
  FailureOr<const PlanChoice *> found = search.findFastest(
      budgetOf(changed), std::numeric_limits<double>::infinity(), /*isBrief=*/true);
  if (failed(found))
    return failure();
  if (*found) {
    PlanCost &cost = search.costOf(*found);
    const std::string text = value.str();
    fixes.push_back({("--" + flag + (text == "true" ? "" : "=" + text)).str(), flag == "ranks",
                     cost.time.seconds, cost.device.packed()});
  }
  return success();
}

/// Twice or eight times as much, if a plan fits then.
LogicalResult FixSearch::attemptMore(StringRef flag, uint64_t now) {
  const size_t before = fixes.size();
  for (uint64_t times : {2, 8})
    if (before == fixes.size() && failed(attempt(flag, Twine(times * now))))
      return failure();
  return success();
}

LogicalResult FixSearch::run() {
  // If tiers are chosen too, what helps is more of what their budgets limit, or more ranks.
  if (options.offload.anyAuto()) {
    const phase::PlanOptions &plan = options.plan;
    if (const uint64_t host = plan.hostBudget.getValue();
        host && known.exceeds({0, 0, host, 0}) && failed(attemptMore("host-budget", host)))
      return failure();
    if (const uint64_t disk = plan.nvmeBudget.getValue();
        disk && known.exceeds({0, 0, 0, disk}) && failed(attemptMore("nvme-budget", disk)))
      return failure();
    return attemptMore("ranks", options.dataRanks());
  }
  LogicalResult result = success();
  // Parameters are tiled before differentiation: zero-plan-tiles has tried the sizes.
  if (std::optional<FittingTiles> fitting = readFittingTiles(module))
    fixes.push_back({"--tile-params-over=" + std::to_string(fitting->limit), false,
                     fitting->seconds, fitting->bytes});
  auto tryIt = [&](StringRef flag, const Twine &value) {
    if (succeeded(result))
      result = attempt(flag, value);
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
  if (isFixed && options.place.stage == 3 && !options.checkpointMode().is(Checkpoint::None) &&
      !options.partition.reshardRecomputed)
    tryIt("reshard-recomputed", "true");
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

static LogicalResult refuseActivations(ModuleOp module, PlanSearch &search, const Budget &budget) {
  FailureOr<int64_t> least = search.findLeastActivations();
  if (failed(least))
    return failure();
  return emitError(module.getLoc()) << "--activation-budget=" << budget.activations
                                    << ": no plan saves so little for backward, including inputs; "
                                       "the smallest budget with a plan is "
                                    << *least;
}

/// Reports that every plan exceeds the budget of another tier: of the disk, if plans exist that
/// exceed only this one, else of the host.
static LogicalResult refuseTiers(ModuleOp module, PlanSearch &search, const Budget &budget) {
  if (budget.nvme) {
    FailureOr<std::optional<int64_t>> disk =
        search.findLeast(&PlanCost::nvme, {0, budget.activations, budget.host, 0});
    if (failed(disk))
      return failure();
    if (*disk)
      return emitError(module.getLoc())
             << "--nvme-budget=" << budget.nvme
             << ": no plan fits into so much of the disk; the smallest budget with a plan is "
             << **disk;
  }
  FailureOr<std::optional<int64_t>> host =
      search.findLeast(&PlanCost::host, {0, budget.activations, 0, budget.nvme});
  if (failed(host))
    return failure();
  auto error = emitError(module.getLoc());
  error << "--host-budget=" << budget.host << ": no plan fits into this much host memory";
  if (*host)
    error << "; the smallest budget with a plan is " << **host;
  return error;
}

/// Maximum bytes of a tile of a parameter, from flags or a planner; 0: parameters are not tiled.
static uint64_t tileLimit(ModuleOp module, const PhaseOptions &options) {
  if (auto planned = module->getAttrOfType<IntegerAttr>(kTilesAttr))
    return uint64_t(planned.getInt());
  return options.differentiate.tileParamsOver.getValue();
}

/// A budget is also used to start transfers early, and more is live then, which packs less well.
/// Raises `peak` until `choice` fits into a budget of so many bytes. Returns its program.
static FailureOr<Evaluation> confirm(ModuleOp module, const PlanChoice &choice,
                                     const PhaseOptions &options, const planning::Machine &machine,
                                     int64_t &peak) {
  PhaseOptions changed;
  changed.copyOptionValuesFrom(options);
  while (true) {
    changed.plan.memoryBudget = ByteSize{uint64_t(peak)};
    FailureOr<Evaluation> evaluation = Evaluation::create(module, choice, changed, machine);
    if (failed(evaluation) || evaluation->getCost().device.packed() <= peak)
      return evaluation;
    peak = evaluation->getCost().device.packed();
  }
}

LogicalResult refuse(ModuleOp module, PlanSearch &search, const PlanChoice *known,
                     const PhaseOptions &options, const Budget &budget,
                     const planning::Machine &machine) {
  FailureOr<const PlanChoice *> smallest = known;
  if (!known && failed(smallest = search.findSmallest(budget)))
    return failure();
  if (!*smallest)
    return budget.activations ? refuseActivations(module, search, budget)
                              : refuseTiers(module, search, budget);
  const PlanCost &cost = search.costOf(*smallest);
  int64_t peak = search.costOf(*smallest).device.packed();
  FailureOr<Evaluation> evaluation = confirm(module, **smallest, options, machine, peak);
  FixSearch fixes(module, search, options, machine);
  if (failed(evaluation) || failed(fixes.run()))
    return failure();
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
