//===- Placements.h - placements of state that a planner tries --*- C++ -*-===//

#ifndef LIB_PLANSEARCH_PLACEMENTS_H
#define LIB_PLANSEARCH_PLACEMENTS_H

#include "Evaluation.h"

#include <array>

namespace zero {

/// The placements of state that the options allow: stages, buckets, tiers and orders of
/// micro-batches. Nothing is said about activations. For a module with kStatePlanAttr, that of it.
std::vector<PlanChoice> listPlacements(mlir::ModuleOp module, const PhaseOptions &options,
                                       const planning::Machine &machine);

/// Bytes of state on each tier under `placement`, by tier: each rank's part of sharded state.
/// Without padding and without the state that fills the host.
std::array<int64_t, 3> stateBytes(mlir::ModuleOp module, const PlanChoice &placement);

} // namespace zero

#endif // LIB_PLANSEARCH_PLACEMENTS_H
