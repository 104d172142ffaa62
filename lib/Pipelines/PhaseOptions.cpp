//===- PhaseOptions.cpp - the options of all phases -----------------------===//

#include "zero/Pipelines/PhaseOptions.h"

#include "runtime/support/checked.h"
#include "zero/Machine/KernelProfile.h"
#include "zero/Machine/MachineFile.h"
#include "zero/Options/MeshAxes.h"
#include "zero/Planning/ProcessMemory.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {

/// The axes of `mesh`; tools have checked it.
static MeshAxes axesOf(StringRef mesh) {
  MeshAxes axes;
  return parseMesh(mesh, axes).empty() ? axes : MeshAxes();
}

bool phase::ShardOptions::any() const { return !isDataParallel(axesOf(mesh)); }

unsigned PhaseOptions::dataRanks() const {
  if (shard.mesh.empty())
    return place.ranks.getValue();
  const MeshAxes axes = axesOf(shard.mesh);
  return unsigned(axisSize(axes, "data") * axisSize(axes, "context"));
}

uint64_t PhaseOptions::ranks() const {
  return uint64_t(dataRanks()) * uint64_t(axisSize(axesOf(shard.mesh), "tensor"));
}

uint64_t PhaseOptions::ranksOf(const planning::Machine &machine) const {
  const auto ofNode = uint64_t(machine.network.ranksPerNode);
  return ofNode ? std::min(ofNode, ranks()) : ranks();
}

uint64_t PhaseOptions::sharedBudget(const planning::Machine &machine) const {
  const uint64_t given = plan.ramBudget.getValue();
  // At least 1, since 0 is no limit.
  return given ? std::max<uint64_t>(planning::arenaWithin(given, ranksOf(machine)), 1) : 0;
}

std::vector<std::pair<std::string, std::string>> phase::AdapterOptions::settings() const {
  return {{"lora", llvm::join(targets, ",")}, {"lora-rank", rank.text()},
          {"lora-alpha", alpha.text()},       {"lora-dropout", dropout.text()},
          {"lora-init", init.text()},         {"rslora", rankStabilized ? "true" : "false"},
          {"dora", dora ? "true" : "false"}};
}

double phase::AdapterOptions::scale() const {
  return alpha / (rankStabilized ? std::sqrt(double(rank)) : double(rank));
}

bool PhaseOptions::freezesBase() const {
  return !adapters.targets.empty() && import.trainable.empty() && import.freezeAllBut.empty();
}

OrAuto<Checkpoint> PhaseOptions::checkpointMode() const {
  if (import.forwardOnly)
    return Checkpoint::None;
  if (place.checkpoint.hasValue())
    return place.checkpoint.getValue();
  if (plan.isPlanned() && place.checkpointSlots == 0)
    return OrAuto<Checkpoint>::automatic();
  return Checkpoint::None;
}

/// Bandwidths of options are those of all drives.
static void setDisk(const phase::PlanOptions &plan, planning::Machine &machine) {
  planning::Disk &disk = machine.disk;
  if (plan.diskCount > 0)
    disk.count = plan.diskCount;
  const double read = double(plan.diskRead.getValue()), write = double(plan.diskWrite.getValue()),
               mixed = double(plan.diskMixed.getValue());
  if (mixed > 0)
    disk.mixed = mixed / disk.count;
  if (read == 0 && write == 0)
    return;
  disk.read = (read > 0 ? read : drivesRate(machine, planning::Link::DiskRead)) / disk.count;
  disk.write = (write > 0 ? write : drivesRate(machine, planning::Link::DiskWrite)) / disk.count;
  disk.bus = 0;
  if (mixed == 0)
    disk.mixed = 0;
}

std::string PhaseOptions::loadMachine(planning::Machine &machine) const {
  const std::string name = plan.machine.empty() ? defaultMachine(kernels.device != Device::Cpu)
                                                : plan.machine.getValue();
  if (std::string error = zero::loadMachine(name, machine); !error.empty())
    return "--machine=" + name + ": " + error;
  if (const std::string &path = plan.profile.getValue(); !path.empty())
    if (std::string error = readKernelProfile(path, machine); !error.empty())
      return "--profile=" + path + ": " + error;
  setDisk(plan, machine);
  return "";
}

std::vector<std::pair<std::string, std::string>> PhaseOptions::settings() const {
  auto join = [](const auto &list) { return llvm::join(list, ","); };
  std::vector<std::pair<std::string, std::string>> settings = {
      {"seed", recognise.seed.text()},
      {"loss-mean", recognise.lossMean.text()},
      {"sync-batchnorm", recognise.syncBatchNorm ? "true" : "false"},
      {"clip-norm", step.clipNorm.text()},
      {"nonfinite", step.nonFinite.text()},
      {"skip-above", step.skipAbove.text()},
      {"skip-spikes", step.skipSpikes.text()},
      {"no-decay", join(step.noDecay)},
      {"param-group", join(step.paramGroups)},
      {"other-lr", step.otherLearningRate.text()},
      {"matrix-params", join(step.matrixParams)},
      {"other-params", join(step.otherParams)},
      {"lr-schedule", step.schedule.text()},
      {"warmup-steps", step.warmupSteps.text()},
      {"total-steps", step.totalSteps.text()},
      {"min-lr-ratio", step.minLearningRate.text()},
      {"warmup-form", step.warmupForm.text()},
      {"warmup-ratio", step.warmupRatio.text()},
      {"lr-power", step.lrPower.text()},
      {"lr-cycles", step.lrCycles.text()},
      {"decay-steps", step.decaySteps.text()},
      {"decay-form", step.decayForm.text()},
      {"lr-points", join(step.lrPoints)}};
  if (step.clipByPrevious)
    settings.emplace_back("clip-by-previous", "true");
  if (!step.ema.empty())
    settings.insert(settings.end(), {{"ema", step.ema},
                                     {"ema-every", step.emaEvery.text()},
                                     {"ema-start", step.emaStart.text()}});
  if (!adapters.targets.empty())
    llvm::append_range(settings, adapters.settings());
  return settings;
}

bool PhaseOptions::knows(StringRef name) const { return OptionsMap.count(name) != 0; }

static const phase::Described *describedBy(const llvm::cl::Option *option) {
  return dynamic_cast<const phase::Described *>(option);
}

std::string PhaseOptions::idleWith(StringRef name) const {
  if (auto *option = describedBy(OptionsMap.lookup(name)))
    for (phase::Condition *condition : option->about.conditions)
      if (std::string text = condition(*this, name); !text.empty())
        return text;
  return "";
}

std::string PhaseOptions::wrongValue(StringRef name) const {
  auto *option = describedBy(OptionsMap.lookup(name));
  if (!option)
    return "";
  const std::optional<phase::Range> &range = option->about.range;
  const double value = option->number().value_or(0);
  if (range && !(value >= range->least && value <= range->most))
    return ": expected " + range->text + ", got " + option->text();
  return option->about.check ? option->about.check(*this) : "";
}

bool PhaseOptions::isOfStep(StringRef name) const {
  auto *option = describedBy(OptionsMap.lookup(name));
  return option && option->about.isOfStep;
}

/// Whether `option` holds one T, or a list of them.
template <typename T>
static bool holds(const llvm::cl::Option *option) {
  return dynamic_cast<const mlir::detail::PassOptions::Option<T> *>(option) ||
         dynamic_cast<const mlir::detail::PassOptions::ListOption<T> *>(option);
}

static ValueKind kindOf(const llvm::cl::Option *option) {
  if (dynamic_cast<const phase::CheckedOption *>(option))
    return ValueKind::Word;
  if (holds<bool>(option))
    return ValueKind::Switch;
  if (holds<unsigned>(option) || holds<uint64_t>(option))
    return ValueKind::Integer;
  if (holds<double>(option))
    return ValueKind::Number;
  return holds<ByteSize>(option) ? ValueKind::Bytes : ValueKind::Text;
}

Flags PhaseOptions::flags() {
  Flags flags;
  for (const auto &[key, option] : OptionsMap) {
    auto setThis = [this, name = key.str()](const std::string &value) {
      const std::string error = set(name, value);
      return error.empty() ? rt::Status() : rt::Status(ZERO_RT_INVALID_ARGUMENT, error);
    };
    // Patterns add up.
    const bool repeats = dynamic_cast<const ListOption<std::string> *>(option);
    const ValueKind kind = kindOf(option);
    const bool isNamed = !option->ValueStr.empty() || kind == ValueKind::Switch;
    const phase::Described &described = *describedBy(option);
    const phase::About &about = described.about;
    flags.push_back({"phases", key.str(), isNamed ? option->ValueStr.str() : kindName(kind),
                     option->HelpStr.str(), setThis, /*with=*/"", repeats, /*isLast=*/false, kind,
                     about.fallback.value_or(described.text()), about.heading.str(),
                     about.brief.str(), about.deepSpeed.str()});
  }
  llvm::sort(flags, [](const Flag &a, const Flag &b) { return a.name < b.name; });
  return flags;
}

/// Whether `value` is a number of type T, if `option` holds one. LLVM's own parser
/// would print its complaint before we can.
template <typename T>
static bool holdsNumber(llvm::cl::Option *option, StringRef value) {
  using Scalar = mlir::detail::PassOptions::Option<T>;
  using List = mlir::detail::PassOptions::ListOption<T>;
  if (!dynamic_cast<Scalar *>(option) && !dynamic_cast<List *>(option))
    return true;
  return llvm::all_of(llvm::split(value, ','), [](StringRef part) {
    T number;
    if constexpr (std::is_floating_point_v<T>)
      return parseDouble(part, number);
    else
      return parseInteger(part, number);
  });
}

std::string PhaseOptions::set(StringRef name, StringRef value) {
  llvm::cl::Option *option = OptionsMap.lookup(name);
  // A path that is an option of a pass would end at its first space.
  if (auto *text = dynamic_cast<Option<std::string> *>(option)) {
    *text = text == &step.optimizer ? value.lower() : value.str(); // AdamW, too
    return "";
  }
  if (auto *checked = dynamic_cast<phase::CheckedOption *>(option))
    if (std::string error = checked->check(value); !error.empty())
      return ("--" + name + ": ").str() + error;
  bool isNumber = holdsNumber<unsigned>(option, value) && holdsNumber<uint64_t>(option, value) &&
                  holdsNumber<double>(option, value);
  std::string errors;
  llvm::raw_string_ostream os(errors);
  if (isNumber && succeeded(parseFromString((name + "=" + value).str(), os)))
    return "";
  std::string expected;
  if (dynamic_cast<Option<ByteSize> *>(option))
    expected = ": expected " + std::string(planning::kByteSizeForm);
  else if (dynamic_cast<Option<BytesPerDay> *>(option))
    expected = ": expected " + std::string(planning::kBytesPerDayForm);
  return ("--" + name + ": bad value '" + value + "'" + expected).str();
}

ScheduleOptions phase::StepOptions::scheduleOptions() const {
  ScheduleOptions options{schedule,   warmupSteps, totalSteps, minLearningRate,
                          warmupForm, warmupRatio, lrPower,    lrCycles,
                          decaySteps, decayForm,   {}};
  std::string wrong; // valid::lrPoints has reported it
  options.points = parsePoints(lrPoints, wrong).value_or(std::vector<SchedulePoint>());
  return options;
}

} // namespace zero
