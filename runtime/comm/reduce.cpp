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

namespace {
/// Sources of the type that they are added in.
template <typename T>
struct Plain {
  static void load(const void *source, uint64_t start, uint64_t count, T *block) {
    std::memcpy(block, static_cast<const T *>(source) + start, count * sizeof(T));
  }
  static void addTo(T *block, const void *source, uint64_t start, uint64_t count) {
    add(block, static_cast<const T *>(source) + start, count);
  }
  static void round(T *, uint64_t) {}
  static void store(const T *block, void *destination, uint64_t start, uint64_t count) {
    std::memcpy(static_cast<T *>(destination) + start, block, count * sizeof(T));
  }
};

/// 16-bit floats that are added in f32. f32 holds their sums and quotients with bits to spare, more
/// than twice theirs and two: rounding its result is rounding the exact one.
struct Halves {
  DType dtype;
  bool roundsEach; ///< after each addition, as if the machine had 16-bit additions

  void load(const void *source, uint64_t start, uint64_t count, float *block) const {
    widenHalves(dtype, static_cast<const uint16_t *>(source) + start, block, count);
  }
  void addTo(float *block, const void *source, uint64_t start, uint64_t count) const {
    alignas(64) float next[kBlock<float>];
    load(source, start, count, next);
    add(block, next, count);
    round(block, count);
  }
  void round(float *block, uint64_t count) const {
    if (!roundsEach)
      return;
    alignas(64) uint16_t rounded[kBlock<float>];
    narrowToHalves(dtype, block, rounded, count);
    widenHalves(dtype, rounded, block, count);
  }
  void store(const float *block, void *destination, uint64_t start, uint64_t count) const {
    narrowToHalves(dtype, block, static_cast<uint16_t *>(destination) + start, count);
  }
};
} // namespace

/// block = the sum of elements [start, start + count) of the sources, first within groups.
template <typename T, typename In>
static void sumBlock(const In &in, std::span<const void *const> sources, uint64_t group,
                     uint64_t start, uint64_t count, T *block) {
  alignas(64) T spare[kBlock<T>];
  for (size_t first = 0; first < sources.size(); first += group) {
    T *into = first == 0 ? block : spare;
    in.load(sources[first], start, count, into);
    for (size_t i = first + 1; i < std::min(sources.size(), first + group); ++i)
      in.addTo(into, sources[i], start, count);
    if (first > 0) {
      add(block, spare, count);
      in.round(block, count);
    }
  }
}

template <typename T, typename In, typename Out>
static void sum(const In &in, const Out &out, std::span<const void *const> sources, uint64_t group,
                void *destination, uint64_t elements, int divisor) {
  alignas(64) T block[kBlock<T>];
  for (uint64_t start = 0; start < elements; start += kBlock<T>) {
    const uint64_t count = std::min(kBlock<T>, elements - start);
    sumBlock<T>(in, sources, group, start, count, block);
    divide(block, divisor, count);
    out.store(block, destination, start, count);
  }
}

template <typename T>
static void sumPlain(std::span<const void *const> sources, uint64_t group, void *destination,
                     uint64_t elements, int divisor) {
  sum<T>(Plain<T>(), Plain<T>(), sources, group, destination, elements, divisor);
}

void sumInOrder(const Reduction &how, std::span<const void *const> sources, void *destination,
                uint64_t elements, int divisor, uint64_t group) {
  if (group == 0)
    group = sources.size();
  const Halves halves{how.dtype, how.arithmeticType() == how.dtype};
  switch (how.dtype) {
  case ZERO_RT_F32:
    return sumPlain<float>(sources, group, destination, elements, divisor);
  case ZERO_RT_F64:
    return sumPlain<double>(sources, group, destination, elements, divisor);
  case ZERO_RT_I32:
    return sumPlain<int32_t>(sources, group, destination, elements, divisor);
  case ZERO_RT_I64:
    return sumPlain<int64_t>(sources, group, destination, elements, divisor);
  case ZERO_RT_F16:
  case ZERO_RT_BF16:
    return sum<float>(halves, halves, sources, group, destination, elements, divisor);
  default:
    return; // refused before, by canSum()
  }
}

void sumPartly(const Reduction &how, std::span<const void *const> sources, void *destination,
               uint64_t elements) {
  if (how.arithmeticType() == how.dtype)
    return sumInOrder(how, sources, destination, elements, /*divisor=*/1);
  sum<float>(Halves{how.dtype, false}, Plain<float>(), sources, sources.size(), destination,
             elements, /*divisor=*/1);
}

void sumPartials(const Reduction &how, std::span<const void *const> partials, void *destination,
                 uint64_t elements, int divisor) {
  if (how.arithmeticType() == how.dtype)
    return sumInOrder(how, partials, destination, elements, divisor);
  sum<float>(Plain<float>(), Halves{how.dtype, false}, partials, partials.size(), destination,
             elements, divisor);
}

} // namespace zero::rt
