//===- Refusal.cpp - explain why no plan fits a budget --------------------===//

#include "Refusal.h"

#include "TileTrial.h"
#include "zero/Planning/ByteSize.h"
#include "zero/Planning/ProcessMemory.h"
#include "zero/Transforms/Plan.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace zero {

/// The number of largest values at the peak, and of options beside a larger budget, that the
/// message lists.
static constexpr size_t kShownValues = 5;
static constexpr size_t kShownFixes = 4;

/// A larger budget of a tier that helps is known to this part of the present one.
static constexpr uint64_t kNearestPart = 8;

static std::string bytesText(int64_t bytes) {
  return std::to_string(bytes) + " bytes (" + planning::formatBytes(double(bytes)) + ")";
}

namespace {

/// A change of the options under which a plan fits.
struct Fix {
  std::string flags;
  bool wantsRanks;
  double seconds;
  std::string memory; ///< what the plan needs
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
  /// The programs that were built for them.
  size_t countBuilt() const { return built; }
  /// Whether a larger budget of the host or of the disk helps.
  bool isLimitedByTier() const { return limitedByTier; }

private:
  using Flags = ArrayRef<std::pair<StringRef, std::string>>;
  std::string memoryText(PlanCost &cost) const;
  /// With `flags`, described as `text`. Returns whether a plan fits.
  FailureOr<bool> attempt(Flags flags, const Twine &text);
  FailureOr<bool> attempt(StringRef flag, const Twine &value);
  LogicalResult attemptTiers();
  /// Twice or eight times as much. Returns the first factor with which a plan fits, or 0.
  FailureOr<uint64_t> attemptMore(StringRef flag, uint64_t now,
                                  function_ref<std::string(uint64_t)> textOf);
  LogicalResult attemptMoreOf(StringRef flag, uint64_t now);

  ModuleOp module;
  const PlanSearch &known;
  const PhaseOptions &options;
  const planning::Machine &machine;
  std::vector<Fix> fixes;
  bool limitedByTier = false;
  size_t built = 0;
};

} // namespace

/// "450.00 MiB, 787.03 MiB of the host", or with --ram-budget "1.21 GiB".
std::string FixSearch::memoryText(PlanCost &cost) const {
  const int64_t device = cost.device.packed(), host = cost.host.packed();
  const bool isShared = options.plan.sharesMemory();
  std::string text = planning::formatBytes(
      isShared ? double(planning::processBytes(device + host, options.ranksOf(machine)))
               : double(device));
  if (host && !isShared)
    text += ", " + planning::formatBytes(double(host)) + " of the host";
  if (const int64_t disk = cost.nvme.packed())
    text += ", " + planning::formatBytes(double(disk)) + " of the disk";
  return text;
}

FailureOr<bool> FixSearch::attempt(Flags flags, const Twine &text) {
  PhaseOptions changed;
  changed.copyOptionValuesFrom(options);
  for (const auto &[flag, value] : flags)
    if (!changed.set(flag, value).empty())
      return false;
  PlanSearch search(module, changed, machine);
  if (failed(search.prepare(&known)))
    return failure();
  FailureOr<const PlanChoice *> found = search.findFitting(search.getBudget());
  built += search.getEvaluated();
  if (failed(found))
    return failure();
  if (!*found)
    return false;
  PlanCost &cost = search.costOf(*found);
  fixes.push_back(
      {("--" + text).str(), flags.front().first == "ranks", cost.time.seconds, memoryText(cost)});
  return true;
}

FailureOr<bool> FixSearch::attempt(StringRef flag, const Twine &value) {
  const std::string text = value.str();
  return attempt({{flag, text}}, text == "true" ? Twine(flag) : flag + "=" + Twine(text));
}

FailureOr<uint64_t> FixSearch::attemptMore(StringRef flag, uint64_t now,
                                           function_ref<std::string(uint64_t)> textOf) {
  for (uint64_t times : {2, 8}) {
    FailureOr<bool> fits = attempt(flag, textOf(times * now));
    if (failed(fits))
      return failure();
    if (*fits)
      return times;
  }
  return 0;
}

/// What --offload=auto does, at stage 3: else parameters stay on the device.
LogicalResult FixSearch::attemptTiers() {
  SmallVector<std::pair<StringRef, std::string>> flags;
  std::string text;
  if (!options.plan.isAuto() && options.place.stage == 0) {
    flags.emplace_back(options.plan.zero.ArgStr, "auto");
    text = "zero=auto --";
  } else if (!options.plan.isAuto() && options.place.stage < 3) {
    flags.emplace_back("zero-stage", "3");
    text = "zero-stage=3 --";
  }
  for (const phase::TierOption *tier : options.offload.chosen())
    if (tier->is(Tier::Device))
      flags.emplace_back(tier->ArgStr, "auto");
  return attempt(flags, text + "offload=auto");
}

/// More of a tier, and then less than what helps as long as that halves the addition.
LogicalResult FixSearch::attemptMoreOf(StringRef flag, uint64_t now) {
  FailureOr<uint64_t> times = attemptMore(flag, now, planning::formatByteFlag);
  if (failed(times) || *times == 0)
    return times;
  limitedByTier = true;
  uint64_t least = *times == 2 ? now : 2 * now, enough = *times * now;
  while (enough > least + now / kNearestPart) {
    const uint64_t middle = planning::roundUpLike(least + (enough - least) / 2, now);
    if (middle >= enough)
      break;
    FailureOr<bool> fits = attempt(flag, planning::formatByteFlag(middle));
    if (failed(fits))
      return failure();
    if (*fits)
      fixes.erase(fixes.end() - 2);
    (*fits ? enough : least) = middle;
  }
  return success();
}

LogicalResult FixSearch::run() {
  // All ranks of one machine share its memory.
  const bool ranksHelp = !options.plan.sharesMemory() || options.ranksOf(machine) < options.ranks();
  // If tiers are chosen too, what helps is more of what their budgets limit, or more ranks.
  if (options.offload.anyAuto()) {
    const phase::PlanOptions &plan = options.plan;
    if (const uint64_t host = plan.hostBudget.getValue();
        host && known.exceeds({0, 0, host, 0}) && failed(attemptMoreOf("host-budget", host)))
      return failure();
    if (const uint64_t disk = plan.nvmeBudget.getValue();
        disk && known.exceeds({0, 0, 0, disk}) && failed(attemptMoreOf("nvme-budget", disk)))
      return failure();
    if (!ranksHelp)
      return success();
    return attemptMore("ranks", options.dataRanks(),
                       [](uint64_t ranks) { return std::to_string(ranks); });
  }
  LogicalResult result = success();
  // Parameters are tiled before differentiation: zero-plan-tiles has tried the sizes.
  if (std::optional<FittingTiles> fitting = readFittingTiles(module))
    fixes.push_back({"--tile-params-over=" + std::to_string(fitting->limit), false,
                     fitting->seconds, planning::formatBytes(double(fitting->bytes))});
  auto tryIt = [&](StringRef flag, const Twine &value) {
    if (succeeded(result))
      result = attempt(flag, value);
  };
  // A step that already recomputes layers would have to be rebuilt.
  if (options.checkpointMode().is(Checkpoint::None) && options.place.checkpointSlots == 0 &&
      !options.import.forwardOnly)
    tryIt("checkpoint", "auto");
  if (options.kernels.device == Device::Cpu && !options.import.forwardOnly) {
    const size_t before = fixes.size();
    if (succeeded(result))
      result = attemptTiers();
    // If a choice among all tiers helps, one of them alone is not better; nor is the host, if it
    // shares its memory with the device.
    const bool helps = fixes.size() > before || options.plan.sharesMemory();
    if (!helps && options.offload.activations.is(Tier::Device))
      tryIt("offload-activations", "host");
    if (!helps && options.offload.optimizer.is(Tier::Device))
      tryIt("offload-optimizer", "host");
  }
  const bool isFixed = !options.plan.isAuto();
  if (isFixed && options.place.stage == 3 && !options.checkpointMode().is(Checkpoint::None) &&
      !options.partition.reshardRecomputed)
    tryIt("reshard-recomputed", "true");
  if (isFixed && options.dataRanks() > 1)
    for (unsigned stage = options.place.stage + 1; stage <= 3; ++stage)
      tryIt("zero-stage", Twine(stage));
  if (ranksHelp && (!isFixed || options.place.stage > 0))
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
  return emitError(module.getLoc())
         << "--activation-budget=" << planning::formatByteFlag(budget.activations)
         << ": no plan saves so little for backward, including inputs; "
            "the smallest budget with a plan is "
         << bytesText(*least);
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
             << "--nvme-budget=" << planning::formatByteFlag(budget.nvme)
             << ": no plan fits into so much of the disk; the smallest budget with a plan is "
             << bytesText(**disk);
  }
  FailureOr<std::optional<int64_t>> host =
      search.findLeast(&PlanCost::host, {0, budget.activations, 0, budget.nvme});
  if (failed(host))
    return failure();
  auto error = emitError(module.getLoc());
  error << "--host-budget=" << planning::formatByteFlag(budget.host)
        << ": no plan fits into this much host memory";
  if (*host)
    error << "; the smallest budget with a plan is " << bytesText(**host);
  return error;
}

/// Reports that plans within the other budgets of `budget` write more to drives than it allows.
/// Returns whether there is such a plan.
static FailureOr<bool> refuseWrites(ModuleOp module, PlanSearch &search, const Budget &budget) {
  Budget others = budget;
  const uint64_t most = std::exchange(others.dailyWrites, 0);
  if (!most)
    return false;
  FailureOr<std::optional<double>> least = search.findLeastWrites(others);
  if (failed(least) || !*least)
    return failed(least) ? FailureOr<bool>() : false;
  const auto needed = uint64_t(std::ceil(**least));
  emitError(module.getLoc()) << "--drive-writes=" << planning::formatByteFlag(most)
                             << "/day: every plan that fits writes more to the drives of a node at "
                                "its planned step time; the least rate with a plan is "
                             << bytesText(int64_t(needed)) << " a day, --drive-writes="
                             << planning::formatByteFlag(planning::roundUpLike(needed, most))
                             << "/day";
  return true;
}

/// Reports which budget besides that of memory no plan keeps.
static LogicalResult refuseOthers(ModuleOp module, PlanSearch &search, Budget budget) {
  budget.memory = 0;
  FailureOr<bool> refused = refuseWrites(module, search, budget);
  if (failed(refused) || *refused)
    return failure();
  return budget.activations ? refuseActivations(module, search, budget)
                            : refuseTiers(module, search, budget);
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
                                     const PlanSearch &search, int64_t &peak) {
  PhaseOptions changed;
  changed.copyOptionValuesFrom(options);
  while (true) {
    if (options.plan.sharesMemory())
      changed.plan.ramBudget =
          ByteSize{planning::processBytes(uint64_t(peak), options.ranksOf(machine))};
    else
      changed.plan.memoryBudget = ByteSize{uint64_t(peak)};
    FailureOr<Evaluation> evaluation = Evaluation::create(module, choice, changed, machine);
    if (failed(evaluation) || search.memoryOf(evaluation->getCost()) <= peak)
      return evaluation;
    peak = search.memoryOf(evaluation->getCost());
  }
}

/// What else limits plans: " with --host-budget=700MiB, and with tiles of up to 4 KiB".
static std::string otherLimits(ModuleOp module, const PhaseOptions &options, const Budget &budget) {
  SmallVector<std::string> limits;
  if (budget.host)
    limits.push_back("--host-budget=" + planning::formatByteFlag(budget.host));
  if (budget.nvme == 1) // as zero-run --auto says without a disk
    limits.push_back("nothing on a disk");
  else if (budget.nvme)
    limits.push_back("--nvme-budget=" + planning::formatByteFlag(budget.nvme));
  if (budget.dailyWrites)
    limits.push_back("--drive-writes=" + planning::formatByteFlag(budget.dailyWrites) + "/day");
  if (const uint64_t tiles = tileLimit(module, options))
    limits.push_back("tiles of up to " + planning::formatBytes(double(tiles)));
  return limits.empty() ? "" : " with " + llvm::join(limits, " and ");
}

/// Says which changes of the options help: those that were tried, and the smallest `budget`.
static void noteFixes(InFlightDiagnostic &error, FixSearch &search, StringRef budget,
                      double seconds) {
  std::vector<Fix> fixes = search.findFixes();
  fixes.resize(std::min(fixes.size(), kShownFixes));
  std::string text;
  for (const Fix &fix : fixes)
    text += llvm::formatv("\n  {0}: {1:F4} s a step in {2}", fix.flags, fix.seconds, fix.memory);
  text += llvm::formatv("\n  {0}: {1:F4} s a step", budget, seconds);
  error.attachNote() << "options with a plan that fits:" << text;
}

LogicalResult refuse(ModuleOp module, PlanSearch &search, const PlanChoice *known,
                     const PhaseOptions &options, const Budget &budget,
                     const planning::Machine &machine) {
  FailureOr<const PlanChoice *> smallest = known;
  FailureOr<bool> refused = refuseWrites(module, search, budget);
  if (failed(refused) || *refused || (!known && failed(smallest = search.findSmallest(budget))))
    return failure();
  if (!*smallest)
    return refuseOthers(module, search, budget);
  const PlanCost &cost = search.costOf(*smallest);
  int64_t peak = search.memoryOf(search.costOf(*smallest));
  FailureOr<Evaluation> evaluation = confirm(module, **smallest, options, machine, search, peak);
  FixSearch fixes(module, search, options, machine);
  if (failed(evaluation) || failed(fixes.run()))
    return failure();
  const uint64_t ram = options.plan.ramBudget.getValue(), asked = ram ? ram : budget.memory;
  const uint64_t sharing = options.ranksOf(machine);
  const uint64_t least = ram ? planning::processBytes(uint64_t(peak), sharing) : uint64_t(peak);
  const std::string flag = ram ? "--ram-budget=" : "--memory-budget=";
  InFlightDiagnostic error = emitError(module.getLoc());
  error << flag << planning::formatByteFlag(asked) << ": no plan fits ";
  if (ram)
    error << "with " << sharing << (sharing == 1 ? " rank" : " ranks") << " on a machine";
  else
    error << "on each rank";
  error << otherLimits(module, options, budget) << "; the smallest budget with a plan is "
        << bytesText(int64_t(least));
  noteFixes(error, fixes, flag + planning::formatByteFlag(planning::roundUpLike(least, asked)),
            cost.time.seconds);
  if (fixes.isLimitedByTier())
    error.attachNote()
        << "plans with less on the device need more on other tiers than their budgets "
           "allow";
  const uint64_t tiles = tileLimit(module, options);
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
  error.attachNote() << "the smallest plan has its peak at '" << evaluation->peakAt()
                     << "'; the largest live values there:" << live;
  const MemoryFloor floor = readTilesFloor(module).value_or(search.getFloor());
  error.attachNote() << "every plan needs at least " << bytesText(floor.total()) << ": "
                     << bytesText(floor.state) << " of state during the whole step, and "
                     << bytesText(floor.launch) << " that '" << floor.launchAt
                     << "' alone reads, writes and uses as workspace";
  if (options.import.verbose)
    error.attachNote() << search.getEvaluated()
                       << " programs were built for the smallest plan, and " << fixes.countBuilt()
                       << " for the options";
  return failure();
}

} // namespace zero
