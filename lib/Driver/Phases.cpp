//===- Phases.cpp - the phases of the compilation pipeline ----------------===//

#include "zero/Driver/Phases.h"

#include "zero/Pipelines/Pipelines.h"
#include "zero/PlanSearch/Passes.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace zero {

/// Adds the passes of one phase.
using AddPhase = void (*)(OpPassManager &, const PhaseOptions &, const planning::Machine &);

/// Adapts a phase that does not depend on the machine.
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
    {Phase::Import, "import", "check the model and select what is trained",
     withoutMachine<addImport>},
    {Phase::Recognise, "recognise", "match composite operators, expand the others",
     withoutMachine<addRecognise>},
    {Phase::Precision, "precision", "store values in 16 bits", withoutMachine<addPrecision>},
    {Phase::Shard, "shard", "shard layers over the tensor axis of the mesh",
     withoutMachine<addShard>},
    {Phase::Differentiate, "differentiate", "add the gradient of the loss", addDifferentiate},
    {Phase::Step, "step", "add the optimizer to the step", withoutMachine<addStep>},
    {Phase::Shape, "shape", "tile the loss, recompute cheap values", withoutMachine<addShape>},
    {Phase::Kernels, "kernels", "form, fuse and bufferize kernels", withoutMachine<addKernels>},
    {Phase::Place, "place", "assign state to ranks, tiers and buckets", addPlace},
    {Phase::Partition, "partition", "partition the step into the program of one rank",
     withoutMachine<addPartition>},
    {Phase::Schedule, "schedule", "order commands on lanes", addSchedule},
    {Phase::Pack, "pack", "assign every value an offset in the arena", withoutMachine<addPack>},
};

StringRef phaseName(Phase phase) { return kPhases[unsigned(phase)].name; }

StringRef phaseSummary(Phase phase) { return kPhases[unsigned(phase)].summary; }

ArrayRef<Phase> allPhases() {
  static const SmallVector<Phase> phases =
      llvm::map_to_vector(kPhases, [](const PhaseInfo &info) { return info.phase; });
  return phases;
}

void addPhase(OpPassManager &pm, Phase phase, const PhaseOptions &options,
              const planning::Machine &machine) {
  kPhases[unsigned(phase)].add(pm, options, machine);
}

/// Adds a phase with options that are given as text, as in zero-opt.
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
