//===- SortedRows.h - sums of rows by sorted indices ------------*- C++ -*-===//

#ifndef LIB_OPS_SORTEDROWS_H
#define LIB_OPS_SORTEDROWS_H

#include "Lowering.h"

namespace zero::ops {

/// The row of a table that a row of the updates is added to: an index, the number of rows of the
/// table for an update that does not count.
using RowKey = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::Value row)>;

/// Adds to the elements of `start`, or to zeros if it is null, slices of `updates` along dimension
/// `axis`: those whose key is the index of the element along `axis` of `result`, in their order.
/// Elements of 16 bits are added in f32 and rounded once.
///
/// All elements of the result are independent, so this suits many threads. The updates of a row are
/// found by a stable sort of the keys: the place of an update is the number of those before it.
/// Three passes that only count compare each key with each other, each place with each, and each
/// row with each key.
mlir::Value addSortedRows(mlir::ImplicitLocOpBuilder &b, mlir::Value updates, mlir::Value start,
                          mlir::RankedTensorType result, int64_t axis, RowKey rowKey);

} // namespace zero::ops

#endif // LIB_OPS_SORTEDROWS_H
