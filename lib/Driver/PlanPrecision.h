//===- PlanPrecision.h - precisions that fit a budget -----------*- C++ -*-===//

#ifndef LIB_DRIVER_PLANPRECISION_H
#define LIB_DRIVER_PLANPRECISION_H

#include "zero/Driver/Compiler.h"
#include "zero/Report/DecisionLog.h"

namespace zero {

/// Runs the phases on `module`. With --allow-precision sets the options of the first precision with
/// which a plan fits, and says which. If no plan fits, the error names a precision that would fit.
llvm::LogicalResult runWithinBudget(mlir::ModuleOp module, CompilerOptions &options,
                                    const planning::Machine &machine, DecisionLog &decisions);

} // namespace zero

#endif // LIB_DRIVER_PLANPRECISION_H
