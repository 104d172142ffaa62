//===- Phases.h - the way of the data -----------------------------*- C++ -*-===//
//
// Each phase is a pipeline with its options, registered under `zero-phase-NAME`,
// and ends with a verifier that states its contract. docs/design/pipeline.md tells the
// story.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_PIPELINES_PHASES_H
#define ZERO_PIPELINES_PHASES_H

#include "zero/Pipelines/Options/Model.h"
#include "zero/Pipelines/Options/Plan.h"
#include "zero/Pipelines/Options/Step.h"
#include "zero/Planning/Machine.h"

#include "mlir/Pass/PassManager.h"

namespace zero {

/// What the phases need to know: a part for each. Every tool fills this one struct.
struct PhaseOptions : mlir::PassPipelineOptions<PhaseOptions> {
  phase::ImportOptions import{*this};
  phase::RecogniseOptions recognise{*this};
  phase::PrecisionOptions precision{*this};
  phase::DifferentiateOptions differentiate{*this};
  phase::StepOptions step{*this};
  phase::ShapeOptions shape{*this};
  phase::KernelOptions kernels{*this};
  phase::PlaceOptions place{*this};
  phase::OffloadOptions offload{*this};
  phase::PlanOptions plan{*this};
  phase::PartitionOptions partition{*this};

  /// The machine of --machine, or a preset for what is compiled for, with the disk that the options
  /// tell of. Returns what is wrong, "--machine=NAME: ...", or nothing.
  std::string loadMachine(planning::Machine &machine) const;

  /// Whether there is an option `name`.
  bool knows(llvm::StringRef name) const;
  /// Whether option `name` needs no value.
  bool isSwitch(llvm::StringRef name) const;
  /// Sets option `name` from text; returns what is wrong with it, or nothing.
  std::string set(llvm::StringRef name, llvm::StringRef value);
};

/// The phases in order. `emit` is no pipeline: it writes a file.
enum class Phase {
  Import,
  Recognise,
  Precision,
  Differentiate,
  Step,
  Shape,
  Kernels,
  Place,
  Partition,
  Schedule,
  Pack
};

/// "import", "recognise", ...
llvm::StringRef phaseName(Phase phase);
llvm::ArrayRef<Phase> allPhases();

/// Adds one phase, with its verifier, to `pm`, which runs on modules. `machine` is what
/// `options.loadMachine` has loaded.
void addPhase(mlir::OpPassManager &pm, Phase phase, const PhaseOptions &options,
              const planning::Machine &machine);

/// Registers every phase as a pipeline `zero-phase-NAME`.
void registerPhases();

} // namespace zero

#endif // ZERO_PIPELINES_PHASES_H
