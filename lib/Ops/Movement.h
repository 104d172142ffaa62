//===- Movement.h - common functions of data movement -----------*- C++ -*-===//
//
// Operators that only move elements share three things: operands that must be
// constants, windows (what Slice cuts out and its gradient puts back), and
// scatters of rows in a fixed order.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_OPS_MOVEMENT_H
#define LIB_OPS_MOVEMENT_H

#include "Lowering.h"

#include "mlir/IR/Diagnostics.h"

namespace zero::ops {

/// Reports an error at `node`. The message starts with the operator and name of the node.
mlir::InFlightDiagnostic nodeError(onnx::NodeOp node);

/// The elements of operand `index`, called `what` in ONNX; an error at the node
/// when it isn't a constant.
mlir::FailureOr<llvm::SmallVector<int64_t>> requireInts(onnx::NodeOp node, unsigned index,
                                                        llvm::StringRef what);

/// The product of `shape`.
int64_t product(llvm::ArrayRef<int64_t> shape);

/// A window of a tensor: for each dimension the smallest index taken, how many
/// are taken, their distance, and whether they are taken from the back.
struct Window {
  llvm::SmallVector<int64_t> offsets, sizes, strides;
  llvm::SmallVector<bool> reversed;

  /// All of `shape`.
  static Window all(llvm::ArrayRef<int64_t> shape);
  /// Takes `count` indices of `dim`: `start`, `start + step`, and so on.
  void set(int64_t dim, int64_t start, int64_t step, int64_t count);
};

/// Cuts `window` out of `value`.
mlir::Value cut(mlir::ImplicitLocOpBuilder &b, mlir::Value value, const Window &window);
/// Puts `value` into `window` of `into`.
mlir::Value put(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Value into,
                const Window &window);

/// A Slice node that takes [start, end) of dimension `axis`.
mlir::Value sliceNode(NodeBuilder &builder, mlir::Value value, int64_t axis, int64_t start,
                      int64_t end);

/// Nodes that add `updates` to `into` at the tuples `indices`, and at indices along `axis`.
mlir::Value addAtTuples(NodeBuilder &nodes, mlir::Value into, mlir::Value indices,
                        mlir::Value updates);
mlir::Value addAtElements(NodeBuilder &nodes, mlir::Value into, mlir::Value indices,
                          mlir::Value updates, int64_t axis);

/// An index of a dimension of `extent`, counted from the end if it is negative, as `index`; an
/// index outside is clamped into the dimension.
mlir::Value boundedIndex(mlir::ImplicitLocOpBuilder &b, mlir::Value index, int64_t extent);

/// Ensures that every index that `node` reads from operand `operand` is in a dimension of `extent`:
/// at compile time if the operand is constant, else by a check at run time. `indices` is the part
/// of the operand inside the kernel; `part` selects it from all elements as (first, distance).
mlir::LogicalResult checkIndices(onnx::NodeOp node, unsigned operand, mlir::Value indices,
                                 int64_t extent, mlir::ImplicitLocOpBuilder &b, Lowered &lowered,
                                 std::pair<int64_t, int64_t> part = {0, 1});

/// The body of a loop nest at `point`: maps the tensor carried in to the one carried out.
using NestBody = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                                mlir::ValueRange point, mlir::Value carried)>;

/// Runs `body` at every point of a loop nest in row-major order, threading one
/// tensor through it.
mlir::Value forEachIndex(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<int64_t> extents,
                         mlir::Value carried, NestBody body);

/// The row of `into` that row `row` of block `block` of the updates goes to.
using RowIndex = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::Value block,
                                                mlir::Value row)>;

/// Writes the rows of `updates` [blocks, rows, inner] to `into` [blocks, extent, inner], or
/// combines them with the existing values. Rows are processed in row-major order, so that sums over
/// repeated indices have one order in every run. 16-bit floats may be combined into f32.
mlir::Value scatterRows(mlir::ImplicitLocOpBuilder &b, mlir::Value into, mlir::Value updates,
                        std::optional<Combine> combine, RowIndex rowIndex);

} // namespace zero::ops

#endif // LIB_OPS_MOVEMENT_H
