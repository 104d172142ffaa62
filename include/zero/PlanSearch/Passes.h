//===- Passes.h - passes that choose plans ----------------------*- C++ -*-===//
// These passes take the options of all phases, because they run phases on copies of the program.
//===----------------------------------------------------------------------===//

#ifndef ZERO_PLANSEARCH_PASSES_H
#define ZERO_PLANSEARCH_PASSES_H

#include "zero/Pipelines/PhaseOptions.h"

namespace zero {

/// Whether other tiles of parameters are tried if a budget requires it. What is sharded along the
/// axis tensor is not tiled.
bool plansTiles(const PhaseOptions &options);

/// The pass `zero-plan-tiles`: before differentiation, chooses the size above which parameters are
/// tiled.
std::unique_ptr<mlir::Pass> createPlanTiles(const PhaseOptions &options,
                                            const planning::Machine &machine);

/// The pass `zero-plan-memory`: chooses the fastest plan within a budget for a step that has
/// kernels, or fails with the smallest budget that has a plan.
std::unique_ptr<mlir::Pass> createPlanMemory(const PhaseOptions &options,
                                             const planning::Machine &machine);

} // namespace zero

#endif // ZERO_PLANSEARCH_PASSES_H
