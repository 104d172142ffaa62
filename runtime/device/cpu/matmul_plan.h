//===- matmul_plan.h - normalize a matrix product ---------------*- C++ -*-===//
//
// Turns a Matmul of the program into the fewest batch dimensions, with C's rows
// contiguous where a transposition can make them so. Pure arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_MATMUL_PLAN_H
#define RUNTIME_DEVICE_CPU_MATMUL_PLAN_H

#include "runtime/format/format.h"

#include <array>
#include <optional>
#include <vector>

namespace zero::rt {

/// A matrix inside a batch: element (i, j) is at i * strides[0] + j * strides[1].
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::array<int64_t, 2> strides{};

  bool isRowMajor() const { return strides[1] == 1 && strides[0] == columns; }
  bool isColumnMajor() const { return strides[0] == 1 && strides[1] == rows; }
  /// Whether there are no gaps, in either order, as oneDNN's fast kernels require.
  bool isDense() const { return isRowMajor() || isColumnMajor(); }
  int64_t elements() const { return rows * columns; }
  Matrix transposed() const { return {columns, rows, {strides[1], strides[0]}}; }
};

/// One batch dimension; strides in elements, 0 for an operand that is repeated.
struct BatchDim {
  int64_t count, a, b, c;
};

struct MatmulPlan {
  std::vector<BatchDim> batch;
  Matrix a, b, c;
  float alpha = 1;
  bool bias = false;
  bool accumulate = false;
  bool residual = false; ///< a matrix in the layout of C is added last
  /// Computes C^T = B^T A^T: operands a and b are exchanged, the bias runs along rows.
  bool swapped = false;
  bool reorderB = false; ///< of one product that is not swapped

  /// Whether there is nothing to compute or nothing to sum.
  bool isEmpty() const;
};

/// Fails with an error that names the reason if strides do not match the sizes or two elements of C
/// share an address.
Status planMatmul(const proto::Matmul &desc, MatmulPlan &plan);

/// The layout that blocks of rows of A are copied to where oneDNN would read them slowly, if there
/// is one. Its `gemm:jit` multiplies matrices where they lie if a side of C is short. Columns of A
/// that are a multiple of 2 KiB apart then share sets of the first-level cache, which halves the
/// speed.
std::optional<Matrix> blockForCaches(const MatmulPlan &plan);

/// Makes blocks of `rows` rows of A and C, which divide theirs, the innermost dimension of the
/// batch.
void divideRows(MatmulPlan &plan, int64_t rows);

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_MATMUL_PLAN_H
