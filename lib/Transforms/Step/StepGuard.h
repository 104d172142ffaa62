//===- StepGuard.h - skip steps that would do harm --------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_STEP_STEPGUARD_H
#define LIB_TRANSFORMS_STEP_STEPGUARD_H

#include "zero/Transforms/Step/StepGradients.h"

namespace zero {

/// Adds what finds out whether a step is applied to the epilogue of `step`, at `builder`: if
/// `isFinite`, which its gradients of norm `norm` are, and if it is within the limits of `options`.
/// All are the same on all ranks. Returns an i1.
mlir::TypedValue<mlir::RankedTensorType>
addStepGuard(mlir::func::FuncOp step, mlir::OpBuilder &builder, mlir::Value norm,
             mlir::TypedValue<mlir::RankedTensorType> isFinite, const StepGuardOptions &options);

} // namespace zero

#endif // LIB_TRANSFORMS_STEP_STEPGUARD_H
