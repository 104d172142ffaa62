//===- Fold.h - results of ops of StableHLO on constants --------*- C++ -*-===//
// Counters of loops, and the indices that are computed from them, follow from constants. Folding is
// exact: integers wrap as StableHLO defines, and of floats only what IEEE 754 defines is folded.
//===----------------------------------------------------------------------===//

#ifndef ZERO_PROGRAMS_STABLEHLO_FOLD_H
#define ZERO_PROGRAMS_STABLEHLO_FOLD_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace zero::hlo {

/// Larger results are computed by the step, unless all their elements are equal.
inline constexpr int64_t kMostFoldedBytes = int64_t(64) << 10;

/// Whether nodes have elements of `type`: f16, bf16, f32, f64, i1, and integers of 8 to 64 bits,
/// signless or unsigned.
bool isElementType(mlir::Type type);

/// The result of `op`, given those of its operands (null: not constant), or null if it does not
/// follow from them. Ops of several results are not folded.
mlir::DenseElementsAttr fold(mlir::Operation *op, llvm::ArrayRef<mlir::DenseElementsAttr> operands);

} // namespace zero::hlo

#endif // ZERO_PROGRAMS_STABLEHLO_FOLD_H
