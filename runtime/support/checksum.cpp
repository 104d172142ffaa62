//===- checksum.cpp - checksums of bytes ----------------------------------===//

#include "runtime/support/checksum.h"

#include <cstring>

namespace zero::rt {

/// Each round is a bijection of `state` for a fixed word and of the word for a
/// fixed state, so two inputs that differ in one word never agree.
static uint64_t mix(uint64_t state, uint64_t word) {
  state = (state ^ word) * 0x9e3779b97f4a7c15ull;
  return state ^ (state >> 29);
}

uint64_t checksum(std::span<const uint8_t> bytes, uint64_t seed) {
  // Four lanes: a single one waits for the multiplier of the round before.
  uint64_t lanes[4] = {seed, seed + 1, seed + 2, seed + 3};
  size_t position = 0;
  for (; position + 32 <= bytes.size(); position += 32)
    for (size_t lane = 0; lane < 4; ++lane) {
      uint64_t word;
      std::memcpy(&word, bytes.data() + position + 8 * lane, 8);
      lanes[lane] = mix(lanes[lane], word);
    }
  uint64_t state = mix(seed, bytes.size());
  for (uint64_t lane : lanes)
    state = mix(state, lane);
  for (; position < bytes.size(); ++position)
    state = mix(state, bytes[position]);
  return state;
}

} // namespace zero::rt
