//===- ProjectionRegion.h - ops along rows of logits ------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_SHAPE_PROJECTIONREGION_H
#define LIB_TRANSFORMS_SHAPE_PROJECTIONREGION_H

#include "dialects/Onnx/Onnx.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace zero {

/// A node of the region, and its form in a tile of rows.
struct RegionNode {
  enum class Kind {
    Rows,   ///< rows of the result from the same rows of the operands
    View,   ///< the same rows in another shape
    Columns ///< sums rows away: tiles are added up
  };
  onnx::NodeOp node;
  Kind kind;
};

/// The nodes between a product that makes the logits of a loss, and the products that
/// read their gradient: each row depends on no other one but through sums.
struct ProjectionRegion {
  onnx::NodeOp loss;
  int64_t rows = 0;
  int64_t classes = 0;
  std::vector<RegionNode> nodes; ///< in program order
  /// Values of which only a tile is needed at a time.
  llvm::DenseSet<mlir::Value> tiled;
  /// Values with rows that an op outside reads: gradients of the projected value.
  llvm::SmallVector<mlir::Value> whole;
  /// Values that tiles are added up to.
  llvm::SmallVector<mlir::Value> sums;

  bool contains(mlir::Operation *op) const { return members.contains(op); }
  llvm::DenseSet<mlir::Operation *> members;
};

/// Positions of all ops of the step.
using Positions = llvm::DenseMap<mlir::Operation *, int64_t>;

/// The region around `loss`, a CrossEntropySum; nothing when its scores are not made
/// by a product, or a node reads them of which the rows are not known.
std::optional<ProjectionRegion> findProjection(onnx::NodeOp loss, const Positions &positions);

/// Elements of one row of `value`, which has `rows` of them: 1 for a number per row.
int64_t rowElements(mlir::Value value, int64_t rows);

} // namespace zero

#endif // LIB_TRANSFORMS_SHAPE_PROJECTIONREGION_H
