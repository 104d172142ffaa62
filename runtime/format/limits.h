//===- limits.h - limits of executables -------------------------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_LIMITS_H
#define RUNTIME_FORMAT_LIMITS_H

#include <cstdint>

namespace zero::rt {

inline constexpr uint32_t kMostRanks = 4096;   ///< along kMostAxes axes (support/mesh.h) at most
inline constexpr uint32_t kMostThreads = 1024; ///< of a rank
/// Within these limits, rows and elements of a global batch can be counted.
inline constexpr uint32_t kMostMicroBatches = 1'000'000;
/// Elements of a slice of a bucket are a multiple of this, by the compiler's kTensorAlignment.
inline constexpr uint64_t kSliceAlignment = 64;

} // namespace zero::rt

#endif // RUNTIME_FORMAT_LIMITS_H
