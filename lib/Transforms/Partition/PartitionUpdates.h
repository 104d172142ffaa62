//===- PartitionUpdates.h - updates of one rank -----------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_PARTITION_PARTITIONUPDATES_H
#define LIB_TRANSFORMS_PARTITION_PARTITIONUPDATES_H

#include "BucketTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// Replaces the updates of the members of `bucket` by one over this rank's slice of it,
/// from `gradient`, and gathers the parameters after it where they are replicated. Fails
/// after an error when the members are not updated alike.
llvm::LogicalResult partitionUpdate(mlir::func::FuncOp step, const BucketTable &table,
                                    const Bucket &bucket, mlir::Value gradient);

} // namespace zero

#endif // LIB_TRANSFORMS_PARTITION_PARTITIONUPDATES_H
