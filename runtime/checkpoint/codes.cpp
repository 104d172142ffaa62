//===- codes.cpp - elements that are stored as codes ----------------------===//

#include "runtime/checkpoint/codes.h"

#include <algorithm>
#include <cmath>

namespace zero::rt {

/// What the update kernel divides a block of zeros by, too.
static constexpr float kLeastScale = 1e-12f;

/// Of 4 bits a byte has an element of the first half of its block in its low half, and the one as
/// far into the second half of the block in its high half.
static unsigned codeOf(const Codes &codes, const uint8_t *block, uint64_t element) {
  if (codes.bits == 8)
    return block[element];
  const uint64_t half = codes.size / 2;
  return element < half ? block[element] & 15u : block[element - half] >> 4u;
}

void decodeBlocks(const Codes &codes, const uint8_t *bytes, const float *scales, uint64_t blocks,
                  float *elements) {
  for (uint64_t block = 0; block < blocks; ++block) {
    const uint8_t *own = bytes + block * codes.size / codes.perByte();
    for (uint64_t i = 0; i < codes.size; ++i)
      elements[block * codes.size + i] = codes.numbers[codeOf(codes, own, i)] * scales[block];
  }
}

/// The code of the number nearest to `value`, of two the larger one; of NaN some code.
static unsigned nearestCode(const std::vector<float> &numbers, float value) {
  const auto above = std::upper_bound(numbers.begin(), numbers.end(), value);
  if (above == numbers.begin())
    return 0;
  const auto code = unsigned(above - numbers.begin());
  if (above == numbers.end())
    return code - 1;
  return value - above[-1] >= *above - value ? code : code - 1;
}

void encodeBlocks(const Codes &codes, const float *elements, uint64_t blocks, uint8_t *bytes,
                  float *scales) {
  std::fill_n(bytes, blocks * codes.size / codes.perByte(), uint8_t(0));
  for (uint64_t block = 0; block < blocks; ++block) {
    const float *own = elements + block * codes.size;
    float scale = kLeastScale;
    for (uint64_t i = 0; i < codes.size; ++i)
      scale = std::max(scale, std::fabs(own[i]));
    scales[block] = scale;
    uint8_t *target = bytes + block * codes.size / codes.perByte();
    for (uint64_t i = 0; i < codes.size; ++i) {
      const unsigned code = nearestCode(codes.numbers, own[i] / scale);
      const uint64_t half = codes.size / 2;
      if (codes.bits == 8)
        target[i] = uint8_t(code);
      else
        target[i % half] |= uint8_t(i < half ? code : code << 4u);
    }
  }
}

} // namespace zero::rt
