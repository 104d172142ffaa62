//===- types.h - numbers of PTX ---------------------------------*- C++ -*-===//

#ifndef TEST_UNIT_GPU_PTX_TYPES_H
#define TEST_UNIT_GPU_PTX_TYPES_H

#include "text.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace ptx {

using Half = _Float16;

/// The upper half of a float32.
struct Brain {
  uint16_t bits = 0;
  Brain() = default;
  explicit Brain(float value) {
    const auto whole = std::bit_cast<uint32_t>(value);
    bits = std::isnan(value) ? 0x7fff : uint16_t((whole + 0x7fff + (whole >> 16 & 1)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

/// Two 16-bit floats in one register.
struct HalfPair {
  Half low = 0, high = 0;
};

template <typename T>
inline constexpr bool kIsFloat =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, Brain>;

/// PTX has one NaN for each float type but float64.
template <typename T>
T canonical(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::isnan(value) ? std::bit_cast<float>(0x7fffffffu) : value;
  else if constexpr (std::is_same_v<T, Half>)
    return std::isnan(float(value)) ? std::bit_cast<Half>(uint16_t(0x7fff)) : value;
  else
    return value;
}

/// The type in which operations on T are computed, before they are rounded to T.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, Brain>, float, T>;

/// The unsigned integer with as many bits.
template <size_t Bytes>
using Unsigned = std::conditional_t<
    Bytes == 1, uint8_t,
    std::conditional_t<Bytes == 2, uint16_t, std::conditional_t<Bytes == 4, uint32_t, uint64_t>>>;

/// Whether `type` is held in T.
template <typename T>
bool holds(Type type) {
  switch (type) {
  case Type::B8:
  case Type::U8:
    return std::is_same_v<T, uint8_t>;
  case Type::B16:
  case Type::U16:
    return std::is_same_v<T, uint16_t>;
  case Type::B32:
  case Type::U32:
    return std::is_same_v<T, uint32_t>;
  case Type::B64:
  case Type::U64:
    return std::is_same_v<T, uint64_t>;
  case Type::S8:
    return std::is_same_v<T, int8_t>;
  case Type::S16:
    return std::is_same_v<T, int16_t>;
  case Type::S32:
    return std::is_same_v<T, int32_t>;
  case Type::S64:
    return std::is_same_v<T, int64_t>;
  case Type::F16:
    return std::is_same_v<T, Half>;
  case Type::BF16:
    return std::is_same_v<T, Brain>;
  case Type::F32:
    return std::is_same_v<T, float>;
  case Type::F64:
    return std::is_same_v<T, double>;
  case Type::F16x2:
    return std::is_same_v<T, HalfPair>;
  default:
    return false;
  }
}

inline bool isSigned(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 || type == Type::S64;
}
inline bool isBits(Type type) {
  return type == Type::B8 || type == Type::B16 || type == Type::B32 || type == Type::B64;
}
inline bool isFloat(Type type) { return type >= Type::F16; }

} // namespace ptx

#endif // TEST_UNIT_GPU_PTX_TYPES_H
