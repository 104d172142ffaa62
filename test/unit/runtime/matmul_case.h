//===- matmul_case.h - a matrix product and its reference -------*- C++ -*-===//

#ifndef TEST_UNIT_RUNTIME_MATMUL_CASE_H
#define TEST_UNIT_RUNTIME_MATMUL_CASE_H

#include "runtime/format/format.h"
#include "runtime/support/dtype.h"

#include <array>
#include <random>
#include <vector>

namespace zero::rt {

using Strides = std::vector<int64_t>;

/// A product and its buffers, which are as long as its strides require.
struct Case {
  proto::Matmul desc;
  std::vector<float> a, b, bias, residual, c;

  Case(std::vector<uint64_t> batch, uint64_t m, uint64_t n, uint64_t k, Strides sa, Strides sb,
       Strides sc) {
    desc.set_dtype(proto::F32);
    desc.set_m(m), desc.set_n(n), desc.set_k(k), desc.set_alpha(1);
    for (uint64_t dim : batch)
      desc.add_batch(dim);
    a = reserve(sa, batch, {m, k}, desc.mutable_a_strides());
    b = reserve(sb, batch, {k, n}, desc.mutable_b_strides());
    c = reserve(sc, batch, {m, n}, desc.mutable_c_strides());
    bias.resize(n);
    residual.resize(c.size());
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (auto *data : {&a, &b, &bias, &c, &residual})
      for (float &value : *data)
        value = uniform(random);
  }

  static std::vector<float> reserve(const Strides &strides, std::vector<uint64_t> dims,
                                    std::vector<uint64_t> matrix, auto *into) {
    dims.insert(dims.end(), matrix.begin(), matrix.end());
    int64_t last = 0;
    for (size_t i = 0; i < dims.size(); ++i) {
      into->Add(strides[i]);
      last += dims[i] > 0 ? int64_t(dims[i] - 1) * strides[i] : 0;
    }
    return std::vector<float>(last + 1);
  }

  Case &alpha(float value) { return desc.set_alpha(value), *this; }
  Case &withBias() { return desc.set_bias(true), *this; }
  Case &withResidual() { return desc.set_residual(true), *this; }
  Case &accumulate() { return desc.set_accumulate(true), *this; }
  Case &reorderB() { return desc.set_reorder_b(true), *this; }
};

/// The types of A, B, the bias and C. The residual has the type of C.
using Types = std::array<DType, 4>;

/// Returns `values` stored as `type`.
std::vector<char> storedAs(DType type, const std::vector<float> &values);
std::vector<float> loadedFrom(DType type, const std::vector<char> &bytes);

proto::Kernel kernelOf(const Case &data, const Types &types);

/// The same with factors of bf16 that are multiplied as they are stored.
proto::Kernel halfKernelOf(const Case &data, DType bias, DType result);

/// The expected result: `c` where the product writes, NaN elsewhere.
std::vector<float> expectedOf(Case data);

/// Bytes between the elements of C must be unchanged. The elements must equal `expected` up to the
/// errors of summation and of rounding to `type`.
void checkResult(const Case &data, DType type, const std::vector<char> &before,
                 const std::vector<char> &after, const std::vector<float> &expected);

/// The strides of a matrix with `gap` elements between its rows or, if transposed, its columns.
Strides strides(bool transposed, int64_t rows, int64_t columns, int64_t gap);

} // namespace zero::rt

#endif // TEST_UNIT_RUNTIME_MATMUL_CASE_H
