//===- random.h - tensors of random numbers ---------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_RANDOM_H
#define RUNTIME_SUPPORT_RANDOM_H

#include <array>
#include <cstdint>

namespace zero::rt {

/// Four words that depend on nothing but `key` and `counter`: Philox4x32-10 (Salmon et al., SC
/// 2011).
std::array<uint32_t, 4> philox(uint64_t key, std::array<uint32_t, 4> counter);

/// A tensor whose elements are drawn by their index, so that any part of it can be made alone.
struct RandomTensor {
  bool isNormal; ///< else uniform
  double first;  ///< mean, or lower end
  double second; ///< standard deviation, or upper end
  uint64_t stream;
  uint64_t seed;

  double element(uint64_t index) const;
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_RANDOM_H
