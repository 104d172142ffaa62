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
  bool isFlag = false;     ///< what --checkpoint=none or layer says
};

/// Lists plans for a step that has kernels, beginning with the one that recomputes nothing: by
/// values, as a greedy planner finds them for several budgets, and by entire layers (`layer`,
/// `sqrt` and checkpoint slots). They do not depend on the user's budget or on the placement of
/// state.
std::vector<RecomputePlan> listRecomputePlans(mlir::ModuleOp module, mlir::func::FuncOp step,
                                              const planning::Machine &machine);

} // namespace zero

#endif // LIB_PLANSEARCH_RECOMPUTEPLANS_H
