//===- random.cpp - tensors of random numbers -----------------------------===//

#include "runtime/support/random.h"

#include <cmath>
#include <numbers>

namespace zero::rt {

std::array<uint32_t, 4> philox(uint64_t key, std::array<uint32_t, 4> counter) {
  constexpr int kRounds = 10;
  constexpr uint64_t kMultiplier[] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t kWeyl[] = {0x9E3779B9, 0xBB67AE85};
  auto low = uint32_t(key), high = uint32_t(key >> 32);
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t left = kMultiplier[0] * counter[0], right = kMultiplier[1] * counter[2];
    counter = {uint32_t(right >> 32) ^ counter[1] ^ low, uint32_t(right),
               uint32_t(left >> 32) ^ counter[3] ^ high, uint32_t(left)};
    low += kWeyl[0];
    high += kWeyl[1];
  }
  return counter;
}

/// A number of [0, 1) with 53 bits.
static double fraction(uint32_t high, uint32_t low) {
  return double((uint64_t(high) << 32 | low) >> 11) * 0x1p-53;
}

double RandomTensor::element(uint64_t index) const {
  const auto words = philox(
      stream, {uint32_t(index), uint32_t(index >> 32), uint32_t(seed), uint32_t(seed >> 32)});
  const double drawn = fraction(words[0], words[1]);
  if (!isNormal)
    return first + (second - first) * drawn;
  // Box and Muller; the logarithm is of (0, 1].
  const double radius = std::sqrt(-2 * std::log(1 - drawn));
  return first + second * radius * std::cos(2 * std::numbers::pi * fraction(words[2], words[3]));
}

} // namespace zero::rt
