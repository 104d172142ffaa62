//===- Convert.h - convert StableHLO to nodes -------------------*- C++ -*-===//

#ifndef ZERO_PROGRAMS_STABLEHLO_CONVERT_H
#define ZERO_PROGRAMS_STABLEHLO_CONVERT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero::hlo {

/// Converts all ops of StableHLO, CHLO and Shardy in `function`, which has one block. Fails after
/// one error that lists every op without a rule.
llvm::LogicalResult convertFunction(mlir::func::FuncOp function);

} // namespace zero::hlo

#endif // ZERO_PROGRAMS_STABLEHLO_CONVERT_H
