//===- ChunkedSums.h - sums over parts of a list ----------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_PARTITION_CHUNKEDSUMS_H
#define LIB_TRANSFORMS_PARTITION_CHUNKEDSUMS_H

#include "dialects/Zero/Zero.h"

namespace zero {

/// A list of numbers, and which of them to add up: the first of each range and how many.
struct Ranges {
  mlir::Value list;
  llvm::SmallVector<std::pair<int64_t, int64_t>> ranges;
};

/// Launches `kernel` of `zero-chunk-sums` in the epilogue for all chunks of `numbers`: once, unless
/// ranges overlap. Returns their sums, as ranges again.
Ranges sumChunks(mlir::OpBuilder &builder, const Ranges &numbers, mlir::FlatSymbolRefAttr kernel,
                 llvm::StringRef name);

/// One list of the numbers of all `parts`, whose ranges follow each other.
Ranges join(mlir::OpBuilder &builder, llvm::ArrayRef<Ranges> parts);

/// The sum of each range of `sums`, f64, as a list: launches `kernel` until each range is one
/// number.
mlir::Value sumRanges(mlir::OpBuilder &builder, Ranges sums, mlir::FlatSymbolRefAttr kernel,
                      llvm::StringRef name);

/// Each number of `list` as a scalar.
llvm::SmallVector<mlir::Value> scalarsOf(mlir::OpBuilder &builder, mlir::Value list);

/// The buckets that have exactly the scalars of `list`, in order.
llvm::SmallVector<BucketOp> copiesOf(mlir::Value list);

} // namespace zero

#endif // LIB_TRANSFORMS_PARTITION_CHUNKEDSUMS_H
