//===- Phases.cpp - the phases of the compilation pipeline ----------------===//

#include "zero/Driver/Phases.h"

#include "zero/Pipelines/Pipelines.h"
#include "zero/PlanSearch/Passes.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace zero {

/// Adds the passes of one phase.
using AddPhase = void (*)(OpPassManager &, const PhaseOptions &, const planning::Machine &);

/// A phase that no machine matters to.
template <void (*add)(OpPassManager &, const PhaseOptions &)>
static void withoutMachine(OpPassManager &pm, const PhaseOptions &options,
                           const planning::Machine &) {
  add(pm, options);
}

static void addDifferentiate(OpPassManager &pm, const PhaseOptions &options,
                             const planning::Machine &machine) {
  if (plansTiles(options))
    pm.addPass(createPlanTiles(options, machine));
  addGradients(pm, options);
}

static void addPlace(OpPassManager &pm, const PhaseOptions &options,
                     const planning::Machine &machine) {
  addActivations(pm, options);
  if (options.plan.isPlanned())
    pm.addPass(createPlanMemory(options, machine));
  addPlacement(pm, options, /*isTrial=*/false);
}

namespace {
struct PhaseInfo {
  Phase phase;
  StringLiteral name;
  StringLiteral summary;
  AddPhase add;
};
} // namespace

static constexpr PhaseInfo kPhases[] = {
    {Phase::Import, "import", "checks the model and selects what is trained",
     withoutMachine<addImport>},
    {Phase::Recognise, "recognise", "finds composites, expands the rest",
     withoutMachine<addRecognise>},
    {Phase::Precision, "precision", "stores values in 16 bits where asked",
     withoutMachine<addPrecision>},
    {Phase::Differentiate, "differentiate", "adds the gradient of the loss", addDifferentiate},
    {Phase::Step, "step", "puts the optimizer into the program", withoutMachine<addStep>},
    {Phase::Shape, "shape", "decides tiles, and what backward recomputes",
     withoutMachine<addShape>},
    {Phase::Kernels, "kernels", "forms, fuses and bufferizes kernels", withoutMachine<addKernels>},
    {Phase::Place, "place", "decides where state resides and in which bucket", addPlace},
    {Phase::Partition, "partition", "makes the program of one rank", withoutMachine<addPartition>},
    {Phase::Schedule, "schedule", "orders commands on lanes", addSchedule},
    {Phase::Pack, "pack", "assigns every value its place in the arena", withoutMachine<addPack>},
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
