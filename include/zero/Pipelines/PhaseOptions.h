//===- PhaseOptions.h - the options of all phases ---------------*- C++ -*-===//

#ifndef ZERO_PIPELINES_PHASEOPTIONS_H
#define ZERO_PIPELINES_PHASEOPTIONS_H

#include "zero/Flags/Flag.h"
#include "zero/Pipelines/Options/Adapters.h"
#include "zero/Pipelines/Options/Model.h"
#include "zero/Pipelines/Options/Plan.h"
#include "zero/Pipelines/Options/Step.h"
#include "zero/Planning/Machine.h"

#include "mlir/Pass/PassManager.h"

namespace zero {

/// The options of all phases, a part for each. Every tool fills this struct.
struct PhaseOptions : mlir::PassPipelineOptions<PhaseOptions> {
  phase::ImportOptions import{*this};
  phase::AdapterOptions adapters{*this};
  phase::RecogniseOptions recognise{*this};
  phase::PrecisionOptions precision{*this};
  phase::ShardOptions shard{*this};
  phase::DifferentiateOptions differentiate{*this};
  phase::StepOptions step{*this};
  phase::ShapeOptions shape{*this};
  phase::KernelOptions kernels{*this};
  phase::PlaceOptions place{*this};
  phase::OffloadOptions offload{*this};
  phase::PlanOptions plan{*this};
  phase::PartitionOptions partition{*this};

  /// The number of ranks.
  uint64_t ranks() const;
  /// The number of data-parallel ranks: of --mesh, or else --ranks.
  unsigned dataRanks() const;
  /// The ranks that share the memory of a machine.
  uint64_t ranksOf(const planning::Machine &machine) const;
  /// The bytes of the device and the host together that --ram-budget leaves to each rank; 0 if it
  /// is not given.
  uint64_t sharedBudget(const planning::Machine &machine) const;
  /// Whether adapters alone are trained: there are some, and no option says what else is.
  bool freezesBase() const;
  /// The mode of --checkpoint; if none is given, auto if a plan is chosen.
  OrAuto<Checkpoint> checkpointMode() const;

  /// The machine of --machine, or a preset for the target of compilation, with the disk that the
  /// options describe. Returns an error message, "--machine=NAME: ...", or an empty string.
  std::string loadMachine(planning::Machine &machine) const;

  /// The options that the numbers of a run depend on, with their values as text; those of the
  /// optimizer, the precision and the division of the batch are described elsewhere.
  std::vector<std::pair<std::string, std::string>> settings() const;

  /// Whether there is an option `name`.
  bool knows(llvm::StringRef name) const;
  /// What option `name` has no effect with, "--zero=auto, which chooses it", or an empty string.
  std::string idleWith(llvm::StringRef name) const;
  /// What the value of option `name` should be instead of what it is, ": expected at least 1, got
  /// 0", or an empty string.
  std::string wrongValue(llvm::StringRef name) const;
  /// Whether option `name` decides what a step computes, and not only how it runs.
  bool isOfStep(llvm::StringRef name) const;
  /// All options as flags that set them, in the order of their names. What holds without them are
  /// their values by now.
  Flags flags();
  /// Sets option `name` from text; returns an error message, or an empty string.
  std::string set(llvm::StringRef name, llvm::StringRef value);
};

} // namespace zero

#endif // ZERO_PIPELINES_PHASEOPTIONS_H
