//===- reduce.cpp - sums in rank order ------------------------------------===//
//
// Block by block through buffers in the first-level cache: the destination may be one
// of the sources, and is written only when all of them were read.
//
//===----------------------------------------------------------------------===//

#include "runtime/comm/reduce.h"

#include "runtime/support/half.h"

#include <algorithm>
#include <cstring>

namespace zero::rt {

bool canSum(const Reduction &how) {
  const DType arithmetic = how.arithmeticType();
  if (isHalf(how.dtype))
    return arithmetic == how.dtype || arithmetic == ZERO_RT_F32;
  return arithmetic == how.dtype && (how.dtype == ZERO_RT_F32 || how.dtype == ZERO_RT_F64 ||
                                     how.dtype == ZERO_RT_I32 || how.dtype == ZERO_RT_I64);
}

/// The number of elements in a cache line, so that the loops do not depend on an optimizer.
template <typename T>
using Line = T __attribute__((ext_vector_type(64 / sizeof(T))));

static constexpr uint64_t kBlockBytes = 8192;

template <typename T>
static constexpr uint64_t kBlock = kBlockBytes / sizeof(T);

/// block += next; `next` may have any alignment.
template <typename T>
static void add(T *block, const T *next, uint64_t count) {
  constexpr uint64_t kLine = 64 / sizeof(T);
  uint64_t i = 0;
  for (; i + kLine <= count; i += kLine) {
    Line<T> sum, other;
    std::memcpy(&sum, block + i, sizeof(sum));
    std::memcpy(&other, next + i, sizeof(other));
    sum += other;
    std::memcpy(block + i, &sum, sizeof(sum));
  }
  for (; i < count; ++i)
    block[i] += next[i];
}

template <typename T>
static void divide(T *block, int divisor, uint64_t count) {
  if (divisor == 1)
    return;
  for (uint64_t i = 0; i < count; ++i)
    block[i] /= static_cast<T>(divisor);
}

template <typename T>
static void sum(std::span<const void *const> sources, void *destination, uint64_t elements,
                int divisor) {
  alignas(64) T block[kBlock<T>];
  for (uint64_t start = 0; start < elements; start += kBlock<T>) {
    const uint64_t count = std::min(kBlock<T>, elements - start);
    auto at = [&](const void *source) { return static_cast<const T *>(source) + start; };
    std::memcpy(block, at(sources[0]), count * sizeof(T));
    for (const void *source : sources.subspan(1))
      add(block, at(source), count);
    divide(block, divisor, count);
    std::memcpy(static_cast<T *>(destination) + start, block, count * sizeof(T));
  }
}

/// Sums of 16-bit floats. f32 holds their sums and quotients with bits to spare, more
/// than twice theirs and two: rounding its result is rounding the exact one.
static void sumHalves(const Reduction &how, std::span<const void *const> sources, void *destination,
                      uint64_t elements, int divisor) {
  const bool roundsEach = how.arithmeticType() == how.dtype;
  alignas(64) float block[kBlock<float>], next[kBlock<float>];
  alignas(64) uint16_t rounded[kBlock<float>];
  for (uint64_t start = 0; start < elements; start += kBlock<float>) {
    const uint64_t count = std::min(kBlock<float>, elements - start);
    auto widen = [&](const void *source, float *into) {
      widenHalves(how.dtype, static_cast<const uint16_t *>(source) + start, into, count);
    };
    auto round = [&] {
      narrowToHalves(how.dtype, block, rounded, count);
      widenHalves(how.dtype, rounded, block, count);
    };
    widen(sources[0], block);
    for (const void *source : sources.subspan(1)) {
      widen(source, next);
      add(block, next, count);
      if (roundsEach)
        round();
    }
    divide(block, divisor, count);
    narrowToHalves(how.dtype, block, static_cast<uint16_t *>(destination) + start, count);
  }
}

void sumInOrder(const Reduction &how, std::span<const void *const> sources, void *destination,
                uint64_t elements, int divisor) {
  switch (how.dtype) {
  case ZERO_RT_F32:
    return sum<float>(sources, destination, elements, divisor);
  case ZERO_RT_F64:
    return sum<double>(sources, destination, elements, divisor);
  case ZERO_RT_I32:
    return sum<int32_t>(sources, destination, elements, divisor);
  case ZERO_RT_I64:
    return sum<int64_t>(sources, destination, elements, divisor);
  case ZERO_RT_F16:
  case ZERO_RT_BF16:
    return sumHalves(how, sources, destination, elements, divisor);
  default:
    return; // refused before, by canSum()
  }
}

} // namespace zero::rt
