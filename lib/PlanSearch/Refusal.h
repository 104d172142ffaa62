//===- Refusal.h - explain why no plan fits a budget ------------*- C++ -*-===//

#ifndef LIB_PLANSEARCH_REFUSAL_H
#define LIB_PLANSEARCH_REFUSAL_H

#include "PlanSearch.h"

namespace zero {

/// Reports at `module` that no plan of `search` fits: the peak of the smallest plan and the values
/// that are live there, the smallest budget that has a plan, the bytes that every plan needs, and
/// the cheapest workarounds, each of which was tried. `known` is the smallest plan, if it was found
/// already. Always fails.
llvm::LogicalResult refuse(mlir::ModuleOp module, PlanSearch &search, const PlanChoice *known,
                           const PhaseOptions &options, const Budget &budget,
                           const planning::Machine &machine);

} // namespace zero

#endif // LIB_PLANSEARCH_REFUSAL_H
