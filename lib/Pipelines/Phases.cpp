//===- Phases.cpp - the way of the data -----------------------------------===//

#include "Pipelines.h"
#include "zero/Machine/MachineFile.h"

#include "mlir/Pass/PassRegistry.h"
#include "runtime/support/checked.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {

std::string PhaseOptions::loadMachine(planning::Machine &machine) const {
  const std::string name = plan.machine.empty() ? defaultMachine(kernels.device != Device::Cpu)
                                                : plan.machine.getValue();
  if (std::string error = zero::loadMachine(name, machine); !error.empty())
    return "--machine=" + name + ": " + error;
  if (plan.diskRead.getValue())
    machine.diskRead = double(plan.diskRead.getValue());
  if (plan.diskWrite.getValue())
    machine.diskWrite = double(plan.diskWrite.getValue());
  return "";
}

bool PhaseOptions::knows(StringRef name) const { return OptionsMap.count(name) != 0; }

bool PhaseOptions::isSwitch(StringRef name) const {
  auto it = OptionsMap.find(name);
  return it != OptionsMap.end() && it->second->getValueExpectedFlag() == llvm::cl::ValueOptional;
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
      return parseWhole(part, number);
  });
}

std::string PhaseOptions::set(StringRef name, StringRef value) {
  llvm::cl::Option *option = OptionsMap.lookup(name);
  // As an option of a pass, a path would end at its first space.
  if (auto *text = dynamic_cast<Option<std::string> *>(option)) {
    *text = value.str();
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
  return ("--" + name + ": bad value '" + value + "'" + expected).str();
}

namespace {
struct PhaseInfo {
  Phase phase;
  StringLiteral name;
  StringLiteral summary;
  void (*add)(OpPassManager &, const PhaseOptions &, const planning::Machine &);
};
} // namespace

static constexpr PhaseInfo kPhases[] = {
    {Phase::Import, "import", "checks the model and selects what is trained",
     [](OpPassManager &pm, const PhaseOptions &options, const planning::Machine &) {
       addImport(pm, options.import);
     }},
    {Phase::Recognise, "recognise", "finds composites, expands the rest",
     [](OpPassManager &pm, const PhaseOptions &options, const planning::Machine &) {
       addRecognise(pm, options);
     }},
    {Phase::Precision, "precision", "stores values in 16 bits where asked",
     [](OpPassManager &pm, const PhaseOptions &options, const planning::Machine &) {
       addPrecision(pm, options.precision);
     }},
    {Phase::Differentiate, "differentiate", "adds the gradient of the loss", addDifferentiate},
    {Phase::Step, "step", "puts the optimizer into the program",
     [](OpPassManager &pm, const PhaseOptions &options, const planning::Machine &) {
       addStep(pm, options);
     }},
    {Phase::Shape, "shape", "decides tiles, and what backward computes again",
     [](OpPassManager &pm, const PhaseOptions &options, const planning::Machine &) {
       addShape(pm, options);
     }},
    {Phase::Kernels, "kernels", "forms, fuses and bufferizes kernels",
     [](OpPassManager &pm, const PhaseOptions &options, const planning::Machine &) {
       addKernels(pm, options.kernels);
     }},
    {Phase::Place, "place", "decides where state lies and in which bucket", addPlace},
    {Phase::Partition, "partition", "makes the program of one rank",
     [](OpPassManager &pm, const PhaseOptions &options, const planning::Machine &) {
       addPartition(pm, options.partition);
     }},
    {Phase::Schedule, "schedule", "orders commands on lanes", addSchedule},
    {Phase::Pack, "pack", "gives every value its place in the arena",
     [](OpPassManager &pm, const PhaseOptions &options, const planning::Machine &) {
       addPack(pm);
     }},
};

StringRef phaseName(Phase phase) { return kPhases[unsigned(phase)].name; }

ArrayRef<Phase> allPhases() {
  static const SmallVector<Phase> phases =
      llvm::map_to_vector(kPhases, [](const PhaseInfo &info) { return info.phase; });
  return phases;
}

void addPhase(OpPassManager &pm, Phase phase, const PhaseOptions &options,
              const planning::Machine &machine) {
  kPhases[unsigned(phase)].add(pm, options, machine);
}

/// Adds a phase with options that are given as text, as zero-opt has them.
static LogicalResult addFromText(const PhaseInfo &info, OpPassManager &pm, StringRef text,
                                 function_ref<LogicalResult(const Twine &)> fail) {
  PhaseOptions options;
  if (failed(options.parseFromString(text)))
    return failure();
  planning::Machine machine;
  if (std::string error = options.loadMachine(machine); !error.empty())
    return fail(error);
  info.add(pm, options, machine);
  return success();
}

void registerPhases() {
  for (const PhaseInfo &info : kPhases)
    registerPassPipeline(
        ("zero-phase-" + info.name).str(), info.summary,
        [&info](OpPassManager &pm, StringRef text,
                function_ref<LogicalResult(const Twine &)> fail) {
          return addFromText(info, pm, text, fail);
        },
        [](function_ref<void(const mlir::detail::PassOptions &)> visit) { visit(PhaseOptions()); });
}

} // namespace zero
