//===- TierCopies.h - values of a step on several tiers ---------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_SCHEDULE_TIERCOPIES_H
#define LIB_TRANSFORMS_SCHEDULE_TIERCOPIES_H

#include "dialects/Zero/Zero.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <tuple>

namespace zero {

/// Tracks the tier of each value that is not on the device, and inserts its transfers. A new
/// transfer has the schedule of the op that it is inserted before.
class TierCopies {
public:
  Tier tierOf(mlir::Value value) const { return tiers.lookup(value); }
  void setTier(mlir::Value value, Tier tier) { tiers[value] = tier; }

  /// For the result of a kernel that replaces a copy, the source of the copy; null for all others.
  mlir::Value originalOf(mlir::Value value) const { return originals.lookup(value); }
  void setOriginal(mlir::Value value, mlir::Value original) { originals[value] = original; }

  /// One hop, to a neighbour: into the bytes of `into`, unless it is null.
  mlir::Value transfer(mlir::Value value, Tier to, mlir::Value into, mlir::Operation *before);
  /// The same through the host, between device and disk.
  mlir::Value transferOver(mlir::Value value, Tier to, mlir::Value into, mlir::Operation *before);
  /// A copy of `value` on `to`.
  mlir::Value copyTo(mlir::Value value, Tier to, mlir::Operation *before) {
    return transferOver(value, to, {}, before);
  }
  /// Bytes of the host for a value like `like`.
  mlir::Value reserve(mlir::Value like, mlir::Operation *before);
  /// Brings `value` to the tier of `user` and shares the copy with later readers. The result of a
  /// kernel on a copy is written back to the source of the copy.
  mlir::Value bring(mlir::Value value, Tier to, mlir::Operation *user);

private:
  /// Value, tier, and the segment and iterations: later readers there share the copy.
  using Key = std::tuple<mlir::Value, Tier, Segment, Iterations>;

  llvm::DenseMap<mlir::Value, Tier> tiers;
  llvm::DenseMap<mlir::Value, mlir::Value> originals;
  llvm::DenseMap<Key, mlir::Value> brought;
};

} // namespace zero

#endif // LIB_TRANSFORMS_SCHEDULE_TIERCOPIES_H
