//===- Passes.h - passes that choose plans ----------------------*- C++ -*-===//
//
// They take the options of all phases, since they run phases on copies of the program.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_PLANSEARCH_PASSES_H
#define ZERO_PLANSEARCH_PASSES_H

#include "zero/Pipelines/PhaseOptions.h"

namespace zero {

/// Whether other tiles of parameters are tried where a budget requires it.
bool plansTiles(const PhaseOptions &options);

/// The pass `zero-plan-tiles`: before differentiation, chooses the limit above which parameters
/// are cut into tiles.
std::unique_ptr<mlir::Pass> createPlanTiles(const PhaseOptions &options,
                                            const planning::Machine &machine);

/// The pass `zero-plan-memory`: chooses the fastest plan that keeps a budget for a step that has
/// kernels, or fails with the smallest budget that has a plan.
std::unique_ptr<mlir::Pass> createPlanMemory(const PhaseOptions &options,
                                             const planning::Machine &machine);

} // namespace zero

#endif // ZERO_PLANSEARCH_PASSES_H
