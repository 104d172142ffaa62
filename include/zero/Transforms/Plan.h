//===- Plan.h - what a planner chose ----------------------------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_PLAN_H
#define ZERO_TRANSFORMS_PLAN_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"

namespace zero {

/// On the module: a dictionary of numbers that a planner chose: `stage`, `ranks`,
/// `persist_under`, `bucket_bytes`, the tiers of `params` and `optimizer` state, and bytes of a
/// rank: `optimizer_host`, its state on the host while the rest is on nvme, `activations_host` and
/// `activations_nvme`, its saved values on these tiers. They override the options of passes.
inline constexpr llvm::StringLiteral kPlanAttr = "zero.plan";

/// On the module: the largest part of a parameter, in bytes, that a planner chose. It counts
/// instead of the limit of zero-tile-parameters.
inline constexpr llvm::StringLiteral kTilesAttr = "zero.tile_params_over";

/// The number that the plan on `module` has under `name`; `option` without a plan.
inline uint64_t plannedNumber(mlir::ModuleOp module, llvm::StringRef name, uint64_t option) {
  auto plan = module->getAttrOfType<mlir::DictionaryAttr>(kPlanAttr);
  auto number = plan ? plan.getAs<mlir::IntegerAttr>(name) : mlir::IntegerAttr();
  return number ? uint64_t(number.getInt()) : option;
}

} // namespace zero

#endif // ZERO_TRANSFORMS_PLAN_H
