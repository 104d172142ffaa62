//===- SavedActivations.h - what forward saves for backward -----*- C++ -*-===//

#ifndef LIB_TRANSFORMS_SCHEDULE_SAVEDACTIVATIONS_H
#define LIB_TRANSFORMS_SCHEDULE_SAVEDACTIVATIONS_H

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace zero {

/// A result of forward that backward reads, by positions in the step.
struct Saved {
  mlir::OpResult value;
  int64_t bytes = 0;
  int64_t lastInForward = 0; ///< that makes or reads it
  int64_t firstBehind = INT64_MAX;
  bool isFree = true; ///< nothing reads it after all micro-batches
};

/// The values that forward of a partitioned step saves, and the work during which each waits.
class Saves {
public:
  explicit Saves(mlir::func::FuncOp step);

  /// All of them, in the order of the program.
  llvm::ArrayRef<Saved> all() const { return values; }
  /// Bytes of them.
  int64_t bytes() const;
  /// The values whose bytes are worth freeing until backward reads them, in this order.
  llvm::SmallVector<Saved> movable() const;

  mlir::Operation *opAt(int64_t position) const { return ops[position]; }
  bool isForward(mlir::Operation *op) const { return forward.contains(op); }

private:
  int64_t leastMoved() const;
  void findReaders(mlir::Value value, Saved &saved) const;
  bool makesRoom(const Saved &saved) const;

  llvm::DenseSet<mlir::Operation *> forward;
  std::vector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  std::vector<int64_t> made; ///< bytes that launches before each position made
  llvm::SmallVector<Saved> values;
};

} // namespace zero

#endif // LIB_TRANSFORMS_SCHEDULE_SAVEDACTIVATIONS_H
