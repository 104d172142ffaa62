//===- PartitionUpdates.h - updates of one rank -----------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_PARTITION_PARTITIONUPDATES_H
#define LIB_TRANSFORMS_PARTITION_PARTITIONUPDATES_H

#include "BucketTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// Replaces the updates of the members of `bucket` by one over this rank's slice, which reads
/// `gradient`. If ranks share a slice of the parameters, gathers it after the update. Fails after
/// an error if the members do not have the same update.
llvm::LogicalResult partitionUpdate(mlir::func::FuncOp step, const BucketTable &table,
                                    const Bucket &bucket, mlir::Value gradient);

} // namespace zero

#endif // LIB_TRANSFORMS_PARTITION_PARTITIONUPDATES_H
