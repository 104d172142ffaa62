//===- BatchValues.h - values of the whole batch and of its parts *- C++ -*-===//
// A step computes the loss of each part of the global batch: of one micro-batch on one rank. The
// loss that it reports and differentiates is the mean of these. That is the loss of the whole batch
// if the loss is linear in sums and means over rows. This analysis finds where it is not, and which
// values of the whole batch make it so: divisors, and the means that other functions are applied
// to. It edits nothing.
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_RECOGNISE_BATCHVALUES_H
#define LIB_TRANSFORMS_RECOGNISE_BATCHVALUES_H

#include "zero/Ops/BatchRows.h"
#include "zero/Transforms/Recognise/Passes.h"

#include "llvm/ADT/MapVector.h"

namespace zero {

/// How the value for the whole batch follows from the values for its parts.
struct PartValue {
  enum Kind {
    Same,   ///< all parts have it: parameters, constants, and what is computed of the whole batch
    Rows,   ///< its rows, at `rows`, are those of the parts
    Mean,   ///< the mean of the parts' values
    Global, ///< all parts have it, and each its share of the gradient
    Own,    ///< it does not: each part uses its own
  };
  Kind kind = Same;
  ops::RowDim rows = {};
  /// It is to be multiplied by the number of parts to this power: 1 for sums.
  int64_t power = 0;
  bool isTrained = false; ///< gradients of parameters flow through it
  bool isCounted = false; ///< it depends on a value that is computed of the whole batch

  bool varies() const { return kind == Mean || kind == Global; }
};

/// An operand that is to be a value of the whole batch.
struct WholeOperand {
  enum Mean {
    Kept,     ///< it is not averaged
    Averaged, ///< it is the mean over the parts
    Followed, ///< the same, and gradients flow through it
  };
  unsigned index;
  Mean mean;
  int64_t power; ///< the number of parts to this power multiplies it: 1 makes a sum of a mean
};

/// What is to be done, and what cannot be.
struct BatchFindings {
  struct Problem {
    mlir::Operation *op;
    std::string text;
  };
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<WholeOperand>> operands;
  std::vector<Problem> problems;
};

/// Follows the loss of `step`. Over several micro-batches, a value of the whole batch must not
/// depend on rows that depend on another one.
BatchFindings findBatchValues(mlir::func::FuncOp step, int64_t microBatches);

} // namespace zero

#endif // LIB_TRANSFORMS_RECOGNISE_BATCHVALUES_H
