//===- reduce.cpp - sums in rank order ------------------------------------===//

#include "runtime/comm/reduce.h"

#include <algorithm>

namespace zero::rt {

bool canSum(DType dtype) {
  return dtype == ZERO_RT_F32 || dtype == ZERO_RT_F64 || dtype == ZERO_RT_I32 ||
         dtype == ZERO_RT_I64;
}

/// Block by block through a buffer in the first-level cache: the destination may be
/// one of the sources, and is written only when all of them were read.
template <typename T>
static void sum(std::span<const void *const> sources, T *destination, uint64_t elements,
                int divisor) {
  constexpr uint64_t kBlock = 8192 / sizeof(T);
  alignas(64) T block[kBlock];
  for (uint64_t start = 0; start < elements; start += kBlock) {
    uint64_t count = std::min(kBlock, elements - start);
    std::copy_n(static_cast<const T *>(sources[0]) + start, count, block);
    for (const void *source : sources.subspan(1)) {
      const T *next = static_cast<const T *>(source) + start;
      for (uint64_t i = 0; i < count; ++i)
        block[i] += next[i];
    }
    if (divisor != 1)
      for (uint64_t i = 0; i < count; ++i)
        block[i] /= static_cast<T>(divisor);
    std::copy_n(block, count, destination + start);
  }
}

void sumInOrder(DType dtype, std::span<const void *const> sources, void *destination,
                uint64_t elements, int divisor) {
  switch (dtype) {
  case ZERO_RT_F32:
    return sum(sources, static_cast<float *>(destination), elements, divisor);
  case ZERO_RT_F64:
    return sum(sources, static_cast<double *>(destination), elements, divisor);
  case ZERO_RT_I32:
    return sum(sources, static_cast<int32_t *>(destination), elements, divisor);
  case ZERO_RT_I64:
    return sum(sources, static_cast<int64_t *>(destination), elements, divisor);
  default:
    return; // refused before, by canSum()
  }
}

} // namespace zero::rt
