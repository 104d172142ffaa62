//===- floats.h - convert between float types -------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_FLOATS_H
#define RUNTIME_SUPPORT_FLOATS_H

#include "runtime/support/dtype.h"

#include <bit>
#include <cmath>

namespace zero::rt {

/// The top half of an fp32.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  /// Rounds to nearest even.
  explicit BFloat16(float value) {
    auto whole = std::bit_cast<uint32_t>(value);
    if (std::isnan(value))
      bits = static_cast<uint16_t>((whole >> 16) | 0x40);
    else
      bits = static_cast<uint16_t>((whole + 0x7fff + ((whole >> 16) & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

/// Whether `convertFloats` knows the way: a type to itself, and any float to any float.
bool isConvertible(DType from, DType to);

/// Converts `count` elements at `source` to `to` at `destination`, rounding to nearest
/// even; too large a number becomes infinite. Where elements grow, the source may be the
/// last bytes of the destination; otherwise the two do not overlap. Neither needs to be
/// aligned.
void convertFloats(DType from, const void *source, DType to, void *destination, size_t count);

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_FLOATS_H
