//===- AppliesIf.h - when an option has an effect ---------------*- C++ -*-===//
// An option lists its conditions beside its name. A flag that is given although one of them does
// not hold is an error of the tools: it would have no effect.
//===----------------------------------------------------------------------===//

#ifndef ZERO_PIPELINES_OPTIONS_APPLIESIF_H
#define ZERO_PIPELINES_OPTIONS_APPLIESIF_H

#include "mlir/Pass/PassOptions.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace zero {

struct PhaseOptions;

namespace phase {

/// Returns what the option `name` has no effect with: "--zero-stage=1, which does not shard
/// parameters"; an empty text if the condition holds.
using Condition = std::string(const PhaseOptions &options, llvm::StringRef name);

/// The conditions of an option.
struct AppliesIf {
  llvm::SmallVector<Condition *, 2> conditions;
  bool isOfStep = false; ///< it decides what a step computes, and not only how it runs
};

template <typename... Conditions>
AppliesIf appliesIf(Conditions &...conditions) {
  return {{&conditions...}};
}
template <typename... Conditions>
AppliesIf ofStep(Conditions &...conditions) {
  return {{&conditions...}, /*isOfStep=*/true};
}

/// An option with conditions.
struct Conditional {
  AppliesIf conditions;
};

/// `Base`, an option of MLIR, that may have conditions after its name.
template <typename Base>
struct Applicable : Base, Conditional {
  template <typename... Args>
  Applicable(mlir::detail::PassOptions &parent, llvm::StringRef name, Args &&...args)
      : Base(parent, name, std::forward<Args>(args)...) {}
  template <typename... Args>
  Applicable(mlir::detail::PassOptions &parent, llvm::StringRef name, AppliesIf conditions,
             Args &&...args)
      : Base(parent, name, std::forward<Args>(args)...), Conditional{std::move(conditions)} {}
  using Base::operator=;
};

} // namespace phase

/// The conditions.
namespace needs {

phase::Condition training,
    givenStage,       ///< no planner chooses the stage
    stage3,           ///< parameters are sharded, or a planner may shard them
    microBatches,     ///< there are several
    lateSums,         ///< gradients of several micro-batches may be summed over ranks at once
    recomputation,    ///< of layers
    noSlots,          ///< the number of saved layers does not determine what is recomputed
    bits16,           ///< --precision is a type of 16 bits
    bits32,           ///< it is not
    fp16,             ///< it is fp16
    dynamicScale,     ///< the loss scale is not fixed
    frozenParameters, ///< there may be some
    noList,           ///< no file lists what is trained
    noMesh,           ///< nothing says the ranks along axes
    cpuRanks,         ///< ranks run on the CPU
    cpuKernels,       ///< some kernels are compiled for the CPU
    ownBudgets,       ///< the device and the host have a budget each
    timedPlan,        ///< something depends on the speed of the machine
    hyperparameter;   ///< of the optimizer

} // namespace needs

} // namespace zero

#endif // ZERO_PIPELINES_OPTIONS_APPLIESIF_H
