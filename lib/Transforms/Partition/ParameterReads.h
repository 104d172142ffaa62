//===- ParameterReads.h - reads of parameters through buckets ---*- C++ -*-===//

#ifndef LIB_TRANSFORMS_PARTITION_PARAMETERREADS_H
#define LIB_TRANSFORMS_PARTITION_PARAMETERREADS_H

#include "BucketTable.h"
#include "zero/Analysis/ParameterUses.h"

#include <array>

namespace zero {

/// Replaces reads of parameters by views of buckets, gathered just before use where
/// the placement shards them.
class ParameterReads {
public:
  /// With `reshard`, what a recomputed layer gathered is gathered again for its backward.
  ParameterReads(mlir::func::FuncOp step, const BucketTable &table, bool reshard);

  /// Rewrites every read of `bucket`'s members.
  void rewrite(const Bucket &bucket);

private:
  using Users = llvm::SmallVector<mlir::Operation *>;

  bool isFarApart(mlir::Operation *from, mlir::Operation *to, bool forward) const;
  bool isRunApart(mlir::Operation *from, mlir::Operation *to) const;
  llvm::SmallVector<Users> clusters(const Bucket &bucket, bool forward);
  llvm::SmallVector<Users> groups(const Bucket &bucket);
  Users readersOfSteps(const Bucket &bucket);
  void gatherFor(const Bucket &bucket, llvm::ArrayRef<mlir::Operation *> users);
  void redirect(mlir::Operation *user,
                const llvm::DenseMap<mlir::StringAttr, mlir::Value> &members);

  mlir::func::FuncOp step;
  const BucketTable &table;
  const bool reshard;
  llvm::MapVector<mlir::StringAttr, ParameterUse> uses;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  /// Where each parameter is first used in backward [0] and forward [1], ascending.
  std::array<llvm::SmallVector<int64_t>, 2> firstUses;
  /// The number of times, up to an op, that the recomputed layer changes.
  llvm::DenseMap<mlir::Operation *, int64_t> layerChanges;
};

} // namespace zero

#endif // LIB_TRANSFORMS_PARTITION_PARAMETERREADS_H
