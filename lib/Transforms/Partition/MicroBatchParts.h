//===- MicroBatchParts.h - cut a micro-batch into parts ---------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_PARTITION_MICROBATCHPARTS_H
#define LIB_TRANSFORMS_PARTITION_MICROBATCHPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace zero {

/// A micro-batch to cut into parts.
struct MicroBatchBody {
  mlir::func::FuncOp step;
  const std::vector<mlir::Operation *> &ops;
  const llvm::DenseSet<mlir::Value> &varying; ///< values that differ between micro-batches
  const std::vector<bool> &joined; ///< for each op: it is in the part of the op before it
  int64_t microBatches;
};

/// Cuts `body` where the next parameters are first read and the fewest bytes cross, unless the
/// values of all micro-batches but one that cross need more bytes than the part has of parameters
/// and of sums of gradients. Returns the first op of each part. Linear.
std::vector<size_t> cutIntoParts(const MicroBatchBody &body);

} // namespace zero

#endif // LIB_TRANSFORMS_PARTITION_MICROBATCHPARTS_H
