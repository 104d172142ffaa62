//===- Phases.h - the phases of the compilation pipeline --------*- C++ -*-===//
// A phase is a pipeline of passes that ends with a verifier of its results. All phases are
// registered under `zero-phase-NAME`. docs/design/pipeline.md describes them.
//===----------------------------------------------------------------------===//

#ifndef ZERO_DRIVER_PHASES_H
#define ZERO_DRIVER_PHASES_H

#include "zero/Pipelines/PhaseOptions.h"

namespace zero {

/// The phases in order. `emit` is not a pipeline: it writes a file.
enum class Phase {
  Import,
  Recognise,
  Precision,
  Shard,
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
/// What a phase does, in a few words: "assign state to ranks, tiers and buckets".
llvm::StringRef phaseSummary(Phase phase);
llvm::ArrayRef<Phase> allPhases();

/// Adds one phase, with its verifier, to `pm`, which runs on modules. `options.loadMachine` loads
/// `machine`.
void addPhase(mlir::OpPassManager &pm, Phase phase, const PhaseOptions &options,
              const planning::Machine &machine);

/// Registers every phase as a pipeline `zero-phase-NAME`.
void registerPhases();

} // namespace zero

#endif // ZERO_DRIVER_PHASES_H
