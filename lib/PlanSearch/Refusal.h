//===- Refusal.h - explain why no plan fits a budget ------------*- C++ -*-===//

#ifndef LIB_PLANSEARCH_REFUSAL_H
#define LIB_PLANSEARCH_REFUSAL_H

#include "PlanSearch.h"

namespace zero {

/// Says at `module` that no plan of `search` fits: where the smallest one has its peak and
/// what is live there, the smallest budget that has a plan, bytes that none can do without,
/// and the cheapest ways out, each of them tried. Always fails.
llvm::LogicalResult refuse(mlir::ModuleOp module, PlanSearch &search, const PhaseOptions &options,
                           const Budget &budget, const planning::Machine &machine);

} // namespace zero

#endif // LIB_PLANSEARCH_REFUSAL_H
