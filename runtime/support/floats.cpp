//===- floats.cpp - convert between float types ---------------------------===//

#include "runtime/support/floats.h"

#include "runtime/support/half.h"

#include <cstring>

namespace zero::rt {

static bool isFloat(DType dtype) {
  return dtype == ZERO_RT_F32 || dtype == ZERO_RT_F64 || dtype == ZERO_RT_F16 ||
         dtype == ZERO_RT_BF16;
}

bool isConvertible(DType from, DType to) {
  return (from == to && sizeOf(from) > 0) || (isFloat(from) && isFloat(to));
}

template <typename From, typename To>
static void convertElements(const char *source, char *destination, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    From element;
    std::memcpy(&element, source + i * sizeof(From), sizeof(From));
    To result = static_cast<To>(element);
    std::memcpy(destination + i * sizeof(To), &result, sizeof(To));
  }
}

template <typename From>
static void convertFrom(const char *source, DType to, char *destination, size_t count) {
  switch (to) {
  case ZERO_RT_F32:
    return convertElements<From, float>(source, destination, count);
  case ZERO_RT_F64:
    return convertElements<From, double>(source, destination, count);
  case ZERO_RT_F16:
    return convertElements<From, _Float16>(source, destination, count);
  default:
    return convertElements<From, BFloat16>(source, destination, count);
  }
}

void convertFloats(DType from, const void *source, DType to, void *destination, size_t count) {
  auto *in = static_cast<const char *>(source);
  auto *out = static_cast<char *>(destination);
  if (from == to) {
    std::memmove(out, in, count * sizeOf(to));
    return;
  }
  if (isHalf(from) && to == ZERO_RT_F32)
    return widenHalves(from, source, static_cast<float *>(destination), count);
  if (from == ZERO_RT_F32 && isHalf(to))
    return narrowToHalves(to, static_cast<const float *>(source), destination, count);
  switch (from) {
  case ZERO_RT_F32:
    return convertFrom<float>(in, to, out, count);
  case ZERO_RT_F64:
    return convertFrom<double>(in, to, out, count);
  case ZERO_RT_F16:
    return convertFrom<_Float16>(in, to, out, count);
  default:
    return convertFrom<BFloat16>(in, to, out, count);
  }
}

} // namespace zero::rt
