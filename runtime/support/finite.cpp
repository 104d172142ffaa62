//===- finite.cpp - look for NaN and infinity -----------------------------===//

#include "runtime/support/finite.h"

#include "runtime/support/vector_targets.h"

#include <algorithm>
#include <cstring>

namespace zero::rt {

/// Elements whose flags are combined before a branch.
static constexpr uint64_t kAtOnce = 4096;

template <typename Bits>
static Bits load(const char *values, uint64_t i) {
  Bits bits;
  std::memcpy(&bits, values + i * sizeof(bits), sizeof(bits));
  return bits;
}

/// Whether any of `count` floats has all bits of `exponent`: NaN and infinity do.
template <typename Bits>
[[gnu::always_inline]] static inline bool hasAny(const char *values, uint64_t count,
                                                 Bits exponent) {
  Bits any = 0;
  for (uint64_t i = 0; i < count; ++i)
    any |= (load<Bits>(values, i) & exponent) == exponent ? Bits(~Bits(0)) : Bits(0);
  return any != 0;
}

// For the vectors that the processor has: the loop is limited by them where values are in its
// caches.
ZERO_RT_TARGET_CLONES("avx512f", "avx2", "default")
static bool hasAny32(const char *values, uint64_t count, uint32_t exponent) {
  return hasAny(values, count, exponent);
}
ZERO_RT_TARGET_CLONES("avx512bw", "avx2", "default")
static bool hasAny16(const char *values, uint64_t count, uint16_t exponent) {
  return hasAny(values, count, exponent);
}
static bool hasAny64(const char *values, uint64_t count, uint64_t exponent) {
  return hasAny(values, count, exponent);
}

template <typename Bits>
static uint64_t find(const void *values, uint64_t count, Bits exponent,
                     bool (*hasAny)(const char *, uint64_t, Bits)) {
  const auto *at = static_cast<const char *>(values);
  for (uint64_t begin = 0; begin < count; begin += kAtOnce) {
    const uint64_t end = std::min(begin + kAtOnce, count);
    if (!hasAny(at + begin * sizeof(Bits), end - begin, exponent))
      continue;
    for (uint64_t i = begin; i < end; ++i)
      if ((load<Bits>(at, i) & exponent) == exponent)
        return i;
  }
  return count;
}

/// The bits of the exponent of a float type, and those of its mantissa; 0 for other types.
struct FloatBits {
  uint64_t exponent = 0, mantissa = 0;
};
static FloatBits bitsOf(DType dtype) {
  switch (dtype) {
  case ZERO_RT_F64:
    return {0x7ff0000000000000, 0x000fffffffffffff};
  case ZERO_RT_F32:
    return {0x7f800000, 0x007fffff};
  case ZERO_RT_BF16:
    return {0x7f80, 0x007f};
  case ZERO_RT_F16:
    return {0x7c00, 0x03ff};
  default:
    return {};
  }
}

uint64_t findNonFinite(DType dtype, const void *values, uint64_t count) {
  const uint64_t exponent = bitsOf(dtype).exponent;
  if (exponent == 0)
    return count;
  switch (sizeOf(dtype)) {
  case sizeof(uint64_t):
    return find<uint64_t>(values, count, exponent, hasAny64);
  case sizeof(uint32_t):
    return find<uint32_t>(values, count, uint32_t(exponent), hasAny32);
  default:
    return find<uint16_t>(values, count, uint16_t(exponent), hasAny16);
  }
}

bool isNan(DType dtype, const void *value) {
  uint64_t bits = 0; // the machine is little-endian, as files are
  std::memcpy(&bits, value, sizeOf(dtype));
  return (bits & bitsOf(dtype).mantissa) != 0;
}

FiniteCheck::FiniteCheck(DType dtype, const void *values, uint64_t elements,
                         std::vector<Range> given)
    : dtype(dtype), values(static_cast<const char *>(values)), elements(elements),
      ranges(std::move(given)) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range &a, const Range &b) { return a.begin < b.begin; });
}

void FiniteCheck::note(uint64_t element) {
  const uint64_t found = element << 1 | uint64_t(isNan(dtype, values + element * sizeOf(dtype)));
  uint64_t known = first.load(std::memory_order_relaxed);
  while (found < known && !first.compare_exchange_weak(known, found, std::memory_order_relaxed)) {
  }
}

void FiniteCheck::look(uint64_t begin, uint64_t end) {
  auto range = std::partition_point(ranges.begin(), ranges.end(),
                                    [begin](const Range &range) { return range.end <= begin; });
  for (; range != ranges.end() && range->begin < end; ++range) {
    const uint64_t low = std::max(begin, range->begin), high = std::min(end, range->end);
    const uint64_t found = low + findNonFinite(dtype, values + low * sizeOf(dtype), high - low);
    if (found < high)
      return note(found);
  }
}

std::optional<FiniteCheck::Finding> FiniteCheck::finding() const {
  const uint64_t found = first.load(std::memory_order_relaxed), element = found >> 1;
  if (found == kNothing)
    return std::nullopt;
  auto range = std::partition_point(ranges.begin(), ranges.end(),
                                    [element](const Range &range) { return range.end <= element; });
  return Finding{range->tensor, (found & 1) != 0};
}

} // namespace zero::rt
