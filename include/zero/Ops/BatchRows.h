//===- BatchRows.h - how operators act on rows of a batch -------*- C++ -*-===//
// Ranks and micro-batches each have a part of the batch: some of its rows, which follow each other
// along one dimension of every tensor that depends on the data. A rule says, for each result of a
// node, what the result for the whole batch is, given the results for the parts.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPS_BATCHROWS_H
#define ZERO_OPS_BATCHROWS_H

#include "dialects/Onnx/Onnx.h"

#include <optional>

namespace zero::ops {

/// Where the rows are in a tensor: along dimension `dim`, which consists of `blocks` equal blocks
/// that each have all rows, as where a reshape has merged an outer dimension with that of the rows.
struct RowDim {
  int64_t dim = 0, blocks = 1;
  /// A part is one row. Then any dimension of one element may be that of the rows.
  bool isSingle = false;

  bool operator==(const RowDim &other) const { return dim == other.dim && blocks == other.blocks; }
};

/// The result for the whole batch, given those of its parts.
enum class RowEffect {
  None,      ///< any of them: the operator does not read the elements of rows
  Kept,      ///< they follow each other along a dimension
  Summed,    ///< their sum
  Averaged,  ///< their mean
  Statistic, ///< something else: the statistics of a BatchNormalization
  Placed,    ///< they are where the data places them, or their sums are
  Combined,  ///< something else: rows of different parts would meet
};

struct RowResult {
  RowEffect effect = RowEffect::Combined;
  RowDim rows = {}; ///< of what is Kept
};

/// The rows in each operand of a node; nothing where all parts hold the same.
using RowDims = llvm::ArrayRef<std::optional<RowDim>>;

/// What each result of `node` is; at least one operand has rows.
llvm::SmallVector<RowResult> followRows(onnx::NodeOp node, RowDims dims);

} // namespace zero::ops

#endif // ZERO_OPS_BATCHROWS_H
