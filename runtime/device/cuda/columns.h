//===- columns.h - matrix products as cuBLASLt takes them -------*- C++ -*-===//
//
// cuBLASLt thinks in columns: a row-major C is its C^T = B^T A^T. Pure arithmetic, without the
// library: the compiler asks here which products the runtime can load.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CUDA_COLUMNS_H
#define RUNTIME_DEVICE_CUDA_COLUMNS_H

#include "runtime/format/format.h"
#include "runtime/support/dtype.h"

#include <vector>

namespace zero::rt::cuda {

/// A column-major matrix, one of a batch.
struct Columns {
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;
  int64_t batchStride = 0; ///< elements
  bool transposed = false;
  DType dtype = ZERO_RT_F32;
};

/// Elements from the first matrix of each operand to those of one call.
struct Offsets {
  int64_t left = 0, right = 0, result = 0;
};

/// result = alpha left right (+ bias along rows) (+ added).
struct Columnwise {
  Columns left, right, result;
  int64_t batch = 1;
  std::vector<Offsets> calls;
  float alpha = 1;
  bool bias = false, residual = false, accumulate = false;
  bool swapped = false; ///< left is A
};

/// `kernel`, a matrix product, in columns; without calls if there is nothing to compute. An error
/// (ZERO_RT_UNSUPPORTED) names: strides with gaps in both rows and columns, mixed types, a bias
/// along C's strided dimension, and two added matrices.
Status toColumnwise(const proto::Kernel &kernel, Columnwise &product);

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_COLUMNS_H
