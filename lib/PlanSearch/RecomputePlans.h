//===- RecomputePlans.h - choices of recomputation --------------*- C++ -*-===//

#ifndef LIB_PLANSEARCH_RECOMPUTEPLANS_H
#define LIB_PLANSEARCH_RECOMPUTEPLANS_H

#include "zero/Analysis/StepTime.h"
#include "zero/Transforms/Place/RematModel.h"

namespace zero {

/// A choice of the values that backward recomputes.
struct RecomputePlan {
  ActivationPlan activations;
  double leastSeconds = 0; ///< lower bound of the recomputation in a step
  int64_t leastBytes = 0;  ///< that are live when forward ends
};

/// Ways for a step that has kernels, from the one that drops nothing: value by value, as a
/// greedy planner finds them for budgets of its own, and by whole layers (`layer`, `sqrt` and
/// checkpoint slots). They depend on no budget and no placement of state.
std::vector<RecomputePlan> listRecomputePlans(mlir::ModuleOp module, mlir::func::FuncOp step,
                                              const planning::Machine &machine);

} // namespace zero

#endif // LIB_PLANSEARCH_RECOMPUTEPLANS_H
