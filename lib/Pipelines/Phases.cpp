//===- Phases.cpp - the way of the data -----------------------------------===//

#include "Pipelines.h"
#include "zero/Machine/MachineFile.h"

#include "mlir/Pass/PassRegistry.h"
#include "runtime/support/checked.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace zero {

std::string StepOptions::machineName() const {
  return machine.empty() ? defaultMachine(device != "cpu") : machine.getValue();
}

std::string StepOptions::loadMachine(planning::Machine &loaded) const {
  std::string error = zero::loadMachine(machineName(), loaded);
  if (diskRead.getValue())
    loaded.diskRead = double(diskRead.getValue());
  if (diskWrite.getValue())
    loaded.diskWrite = double(diskWrite.getValue());
  return error;
}

bool StepOptions::knows(StringRef name) const { return OptionsMap.count(name) != 0; }

bool StepOptions::isSwitch(StringRef name) const {
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

std::string StepOptions::set(StringRef name, StringRef value) {
  llvm::cl::Option *option = OptionsMap.lookup(name);
  // As an option of a pass, a path would end at its first space.
  if (auto *text = dynamic_cast<Option<std::string> *>(option)) {
    *text = value.str();
    return "";
  }
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
  void (*add)(OpPassManager &, const StepOptions &);
};
} // namespace

static constexpr PhaseInfo kPhases[] = {
    {Phase::Import, "import", "checks the model and selects what is trained", addImport},
    {Phase::Recognise, "recognise", "finds composites, expands the rest", addRecognise},
    {Phase::Precision, "precision", "stores values in 16 bits where asked", addPrecision},
    {Phase::Differentiate, "differentiate", "adds the gradient of the loss", addDifferentiate},
    {Phase::Step, "step", "puts the optimizer into the program", addStep},
    {Phase::Shape, "shape", "decides tiles, and what backward computes again", addShape},
    {Phase::Kernels, "kernels", "forms, fuses and bufferizes kernels", addKernels},
    {Phase::Place, "place", "decides where state lies and in which bucket", addPlace},
    {Phase::Partition, "partition", "makes the program of one rank", addPartition},
    {Phase::Schedule, "schedule", "orders commands on lanes", addSchedule},
    {Phase::Pack, "pack", "gives every value its place in the arena", addPack},
};

StringRef phaseName(Phase phase) { return kPhases[unsigned(phase)].name; }

ArrayRef<Phase> allPhases() {
  static const SmallVector<Phase> phases =
      llvm::map_to_vector(kPhases, [](const PhaseInfo &info) { return info.phase; });
  return phases;
}

void addPhase(OpPassManager &pm, Phase phase, const StepOptions &options) {
  kPhases[unsigned(phase)].add(pm, options);
}

void registerPhases() {
  // A registration keeps its option parser for the life of the process.
  static std::vector<std::unique_ptr<PassPipelineRegistration<StepOptions>>> registrations;
  for (const PhaseInfo &info : kPhases) {
    static std::vector<std::string> names;
    names.reserve(std::size(kPhases));
    names.push_back(("zero-phase-" + info.name).str());
    registrations.push_back(std::make_unique<PassPipelineRegistration<StepOptions>>(
        names.back(), info.summary,
        [add = info.add](OpPassManager &pm, const StepOptions &options) { add(pm, options); }));
  }
}

} // namespace zero
