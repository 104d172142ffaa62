//===- PhaseOptions.h - the options of all phases ---------------*- C++ -*-===//

#ifndef ZERO_PIPELINES_PHASEOPTIONS_H
#define ZERO_PIPELINES_PHASEOPTIONS_H

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

  /// The mode of --checkpoint: where none is given, auto if a plan is chosen.
  OrAuto<Checkpoint> checkpointMode() const;

  /// The machine of --machine, or a preset for what is compiled for, with the disk that the options
  /// describe. Returns what is wrong, "--machine=NAME: ...", or nothing.
  std::string loadMachine(planning::Machine &machine) const;

  /// Whether there is an option `name`.
  bool knows(llvm::StringRef name) const;
  /// Whether option `name` needs no value.
  bool isSwitch(llvm::StringRef name) const;
  /// Sets option `name` from text; returns what is wrong with it, or nothing.
  std::string set(llvm::StringRef name, llvm::StringRef value);
};

} // namespace zero

#endif // ZERO_PIPELINES_PHASEOPTIONS_H
