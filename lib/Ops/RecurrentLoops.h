//===- RecurrentLoops.h - loops of recurrent layers -------------*- C++ -*-===//
//
// The loops are written out, not as linalg: what they carry from step to step stays in
// small tensors of a few rows of the batch, and each is updated in its own bytes.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_OPS_RECURRENTLOOPS_H
#define LIB_OPS_RECURRENTLOOPS_H

#include "Lowering.h"

namespace zero::ops {

using Values = llvm::SmallVector<mlir::Value>;

/// An iteration: maps the values carried in to the values carried out.
using LoopBody = llvm::function_ref<Values(mlir::ImplicitLocOpBuilder &, mlir::Value index,
                                           mlir::ValueRange carried)>;

/// A loop over [0, extent); its results.
Values repeat(mlir::ImplicitLocOpBuilder &b, int64_t extent, mlir::ValueRange carried,
              LoopBody body);

/// Tensors that loops carry, some of which may be null.
using Carry = llvm::SmallVector<mlir::Value, 8>;

/// An iteration that updates the loop-carried values in place. Null values remain null.
using CarryBody =
    llvm::function_ref<void(mlir::ImplicitLocOpBuilder &, mlir::Value index, Carry &)>;

/// A loop over [0, extent) that updates `carry`.
void repeatOver(mlir::ImplicitLocOpBuilder &b, int64_t extent, Carry &carry, CarryBody body);

/// The body at a row and a column.
using PointBody = llvm::function_ref<void(mlir::ImplicitLocOpBuilder &, mlir::Value row,
                                          mlir::Value column, Carry &)>;

/// Visits all of `rows` by `columns`.
void forPoints(mlir::ImplicitLocOpBuilder &b, int64_t rows, int64_t columns, Carry &carry,
               PointBody body);

/// The element of `tensor` at `indices`.
mlir::Value at(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor, mlir::ValueRange indices);
/// `tensor` with `value` at `indices`.
mlir::Value with(mlir::ImplicitLocOpBuilder &b, mlir::Value tensor, mlir::ValueRange indices,
                 mlir::Value value);
/// `index` plus a constant, of which a loop's variable comes out as it is where that is 0.
mlir::Value shifted(mlir::ImplicitLocOpBuilder &b, mlir::Value index, int64_t by);

/// An element at a row and a column.
using ElementAt = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::Value row,
                                                 mlir::Value column)>;

/// Columns in a block of packed weights: 64 bytes of f32, a vector of AVX-512 or two of AVX2.
inline constexpr int64_t kBlockColumns = 16;

/// A product of `rows` rows with weights, sums of `depth` terms. The weights are [columns, terms],
/// or packed as [blocks, terms, kBlockColumns]. `begin` and `end` are columns or blocks.
struct ProductShape {
  int64_t rows, begin, end, depth;
  int64_t firstTerm = 0;   ///< of the weights
  int64_t firstColumn = 0; ///< of the result
};

/// Writes the sum over k of left(r, k) times weights[n, firstTerm + k], n from `begin` on, to
/// out[r, n], n from `firstColumn` on, a tile of rows and columns at a time. With packed weights a
/// vector has the sums of a block, each in the order of k. Otherwise sums run along k in vectors,
/// in LLVM's order, the same in every run.
mlir::Value multiplied(mlir::ImplicitLocOpBuilder &b, const ProductShape &shape, ElementAt left,
                       mlir::Value weights, mlir::Value out);

/// Rows of a batch of `batch` that one iteration of the outermost loop takes: threads share
/// these iterations.
int64_t rowsTogether(int64_t batch);

} // namespace zero::ops

#endif // LIB_OPS_RECURRENTLOOPS_H
