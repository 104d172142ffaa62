//===- Limits.h - the size of programs --------------------------*- C++ -*-===//

#ifndef ZERO_PROGRAMS_STABLEHLO_LIMITS_H
#define ZERO_PROGRAMS_STABLEHLO_LIMITS_H

#include <cstdint>

namespace zero::hlo {

/// Inlined calls and unrolled loops together may have so many ops.
inline constexpr int64_t kMostOps = 4'000'000;
/// Calls and regions may be nested so deeply.
inline constexpr unsigned kMostNesting = 256;

} // namespace zero::hlo

#endif // ZERO_PROGRAMS_STABLEHLO_LIMITS_H
