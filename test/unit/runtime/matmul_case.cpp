//===- matmul_case.cpp - a matrix product and its reference ---------------===//

#include "matmul_case.h"
#include "runtime/support/floats.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace zero::rt {

static void multiply(const Case &data, std::vector<float> &c, int dim, int64_t ia, int64_t ib,
                     int64_t ic) {
  const proto::Matmul &d = data.desc;
  int rank = d.batch_size();
  if (dim < rank) {
    for (uint64_t i = 0; i < d.batch(dim); ++i)
      multiply(data, c, dim + 1, ia + i * d.a_strides(dim), ib + i * d.b_strides(dim),
               ic + i * d.c_strides(dim));
    return;
  }
  for (uint64_t i = 0; i < d.m(); ++i)
    for (uint64_t j = 0; j < d.n(); ++j) {
      double sum = 0;
      for (uint64_t k = 0; k < d.k(); ++k)
        sum += double(data.a[ia + i * d.a_strides(rank) + k * d.a_strides(rank + 1)]) *
               data.b[ib + k * d.b_strides(rank) + j * d.b_strides(rank + 1)];
      const int64_t at = ic + i * d.c_strides(rank) + j * d.c_strides(rank + 1);
      c[at] = float(d.alpha() * sum + (d.bias() ? data.bias[j] : 0) +
                    (d.residual() ? data.residual[at] : 0) + (d.accumulate() ? c[at] : 0));
    }
}

std::vector<char> storedAs(DType type, const std::vector<float> &values) {
  std::vector<char> bytes(values.size() * sizeOf(type));
  convertFloats(ZERO_RT_F32, values.data(), type, bytes.data(), values.size());
  return bytes;
}

std::vector<float> loadedFrom(DType type, const std::vector<char> &bytes) {
  std::vector<float> values(bytes.size() / sizeOf(type));
  convertFloats(type, bytes.data(), ZERO_RT_F32, values.data(), values.size());
  return values;
}

/// The rounding error relative to 1: half of the distance between two numbers of `type`.
static double unitOf(DType type) {
  return type == ZERO_RT_F32 ? 0 : type == ZERO_RT_F16 ? 0x1p-11 : 0x1p-8;
}

proto::Kernel kernelOf(const Case &data, const Types &types) {
  proto::Kernel kernel;
  *kernel.mutable_matmul() = data.desc;
  for (size_t i = 0; i < 4; ++i)
    if (i != 2 || data.desc.bias())
      kernel.add_stored(proto::DType(types[i]));
  if (data.desc.residual())
    kernel.add_stored(proto::DType(types[3]));
  return kernel;
}

proto::Kernel halfKernelOf(const Case &data, DType bias, DType result) {
  proto::Kernel kernel = kernelOf(data, {ZERO_RT_BF16, ZERO_RT_BF16, bias, result});
  kernel.mutable_matmul()->set_dtype(proto::BF16);
  return kernel;
}

std::vector<float> expectedOf(Case data) {
  std::vector<float> expected = data.c, touched(data.c.size(), NAN);
  multiply(data, expected, 0, 0, 0, 0);
  data.desc.set_accumulate(false), data.desc.set_k(0);
  multiply(data, touched, 0, 0, 0, 0);
  for (size_t i = 0; i < expected.size(); ++i)
    if (std::isnan(touched[i]))
      expected[i] = NAN;
  return expected;
}

void checkResult(const Case &data, DType type, const std::vector<char> &before,
                 const std::vector<char> &after, const std::vector<float> &expected) {
  const double within = 1e-4 * (1 + std::sqrt(double(data.desc.k())));
  const std::vector<float> c = loadedFrom(type, after);
  for (size_t i = 0; i < c.size(); ++i)
    if (std::isnan(expected[i]))
      ASSERT_EQ(std::memcmp(&before[i * sizeOf(type)], &after[i * sizeOf(type)], sizeOf(type)), 0)
          << "between elements, at " << i;
    else
      ASSERT_NEAR(c[i], expected[i], within + unitOf(type) * std::abs(expected[i])) << "at " << i;
}

Strides strides(bool transposed, int64_t rows, int64_t columns, int64_t gap) {
  return transposed ? Strides{1, rows + gap} : Strides{columns + gap, 1};
}

} // namespace zero::rt
