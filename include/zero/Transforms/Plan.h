//===- Plan.h - plans on modules --------------------------------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_PLAN_H
#define ZERO_TRANSFORMS_PLAN_H

#include "dialects/Zero/Zero.h"

#include "mlir/IR/BuiltinOps.h"

namespace zero {

/// On the module: the plan that a planner chose, a `#zero.plan`.
inline constexpr llvm::StringLiteral kPlanAttr = "zero.plan";

/// On the module of another shape of the inputs, a `#zero.plan`: the plan of the first shape, whose
/// placement of state this one takes over.
inline constexpr llvm::StringLiteral kStatePlanAttr = "zero.state_plan";

/// On the module of another shape of the inputs: the arenas of the first shape. A rank has the
/// larger arena of both, so that one of that size is small enough.
inline constexpr llvm::StringLiteral kFirstArenasAttr = "zero.first_arenas";

/// On the module: the maximum bytes of a tile of a parameter that a planner chose. It overrides the
/// limit of zero-tile-parameters.
inline constexpr llvm::StringLiteral kTilesAttr = "zero.tile_params_over";

/// On the module: it is compiled to see whether a plan fits, with `true` by building few programs.
/// If none does, there is no explanation.
inline constexpr llvm::StringLiteral kPrecisionTrialAttr = "zero.precision_trial";
/// On the module, after an error: no plan fits into the budgets.
inline constexpr llvm::StringLiteral kNoPlanAttr = "zero.no_plan";

/// The plan on `module`, or null.
inline PlanAttr planOf(mlir::ModuleOp module) { return module->getAttrOfType<PlanAttr>(kPlanAttr); }

} // namespace zero

#endif // ZERO_TRANSFORMS_PLAN_H
