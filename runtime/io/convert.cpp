//===- convert.cpp - convert elements -------------------------------------===//

#include "runtime/io/convert.h"

#include "runtime/support/floats.h"

#include <cstring>

namespace zero::rt {

namespace {
struct Bool {
  uint8_t value;
  template <typename T>
  operator T() const {
    return value != 0;
  }
};
} // namespace

template <typename From, typename To>
static void widen(const uint8_t *source, uint8_t *target, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    From narrow;
    std::memcpy(&narrow, source + i * sizeof(From), sizeof(From));
    To wide = static_cast<To>(narrow);
    std::memcpy(target + i * sizeof(To), &wide, sizeof(To));
  }
}

template <size_t size>
static void copy(const uint8_t *source, uint8_t *target, uint64_t count) {
  std::memcpy(target, source, count * size);
}

static Conversion copying(size_t size) {
  switch (size) {
  case 1:
    return copy<1>;
  case 2:
    return copy<2>;
  case 4:
    return copy<4>;
  default:
    return copy<8>;
  }
}

template <typename To>
static Conversion toInteger(DType from) {
  switch (from) {
  case ZERO_RT_BOOL:
    return widen<Bool, To>;
  case ZERO_RT_I8:
    return widen<int8_t, To>;
  case ZERO_RT_U8:
    return widen<uint8_t, To>;
  case ZERO_RT_I16:
    return widen<int16_t, To>;
  case ZERO_RT_U16:
    return widen<uint16_t, To>;
  case ZERO_RT_I32:
    return widen<int32_t, To>;
  case ZERO_RT_U32:
    return sizeof(To) > 4 ? widen<uint32_t, To> : nullptr;
  default:
    return nullptr;
  }
}

template <typename To>
static Conversion toFloat(DType from) {
  switch (from) {
  case ZERO_RT_F16:
    return widen<_Float16, To>;
  case ZERO_RT_BF16:
    return widen<BFloat16, To>;
  case ZERO_RT_F32:
    return widen<float, To>;
  default:
    return nullptr;
  }
}

Conversion conversion(DType from, DType to) {
  if (to == ZERO_RT_BOOL) // a file may hold any byte
    return from == ZERO_RT_BOOL || from == ZERO_RT_U8 ? widen<Bool, uint8_t> : nullptr;
  if (from == to)
    return copying(sizeOf(from));
  switch (to) {
  case ZERO_RT_I64:
    return toInteger<int64_t>(from);
  case ZERO_RT_I32:
    return toInteger<int32_t>(from);
  case ZERO_RT_F32:
    return toFloat<float>(from);
  case ZERO_RT_F64:
    return toFloat<double>(from);
  default:
    return nullptr;
  }
}

} // namespace zero::rt
