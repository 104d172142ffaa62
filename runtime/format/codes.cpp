//===- codes.cpp - elements that are stored as codes ----------------------===//

#include "runtime/format/codes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace zero::rt {

/// What the update kernel divides a block of zeros by, too.
static constexpr float kLeastScale = 1e-12f;

Codes codesOf(const proto::Tensor &tensor) {
  if (!tensor.has_blocks())
    return {};
  const auto &blocks = tensor.blocks();
  return {blocks.bits(), blocks.size(), {blocks.numbers().begin(), blocks.numbers().end()}};
}

/// Of 4 bits a byte has an element of the first half of its block in its low half, and the one as
/// far into the second half of the block in its high half.
static unsigned codeOf(const Codes &codes, const uint8_t *block, uint64_t element) {
  if (codes.bits == 8)
    return block[element];
  const uint64_t half = codes.size / 2;
  return element < half ? block[element] & 15u : block[element - half] >> 4u;
}

void decodeBlocks(const Codes &codes, const uint8_t *bytes, const float *scales, float mean,
                  uint64_t count, float *elements) {
  for (uint64_t block = 0; block * codes.size < count; ++block) {
    const uint8_t *own = bytes + block * codes.blockBytes();
    const uint64_t first = block * codes.size, width = std::min(codes.size, count - first);
    for (uint64_t i = 0; i < width; ++i)
      elements[first + i] = codes.numbers[codeOf(codes, own, i)] * scales[block] + mean;
  }
}

Status decodeRange(const Codes &codes, uint64_t all, bool hasMean, uint64_t begin, uint64_t count,
                   const ReadCodes &readCodes, const ReadScales &readScales,
                   std::vector<float> &elements) {
  const uint64_t first = begin / codes.size, blocks = (begin + count - 1) / codes.size - first + 1;
  const uint64_t start = first * codes.size, whole = std::min(blocks * codes.size, all - start);
  std::vector<uint8_t> bytes(whole / codes.perByte());
  std::vector<float> scales, mean{0};
  ZERO_RT_TRY(readCodes(first * codes.blockBytes(), bytes.size(), bytes.data()));
  ZERO_RT_TRY(readScales(first, blocks, scales));
  if (hasMean)
    ZERO_RT_TRY(readScales(codes.blocksOf(all), 1, mean));
  elements.resize(whole);
  decodeBlocks(codes, bytes.data(), scales.data(), mean.front(), whole, elements.data());
  elements.erase(elements.begin(), elements.begin() + std::ptrdiff_t(begin - start));
  elements.resize(count);
  return {};
}

BlockEncoder::BlockEncoder(Codes codes) : made(std::move(codes)) {
  const std::vector<float> &numbers = made.numbers;
  order.resize(numbers.size());
  std::iota(order.begin(), order.end(), uint8_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](uint8_t left, uint8_t right) { return numbers[left] < numbers[right]; });
  for (size_t i = 1; i < order.size(); ++i)
    middles.push_back((numbers[order[i - 1]] + numbers[order[i]]) / 2);
}

/// Writes the codes of the numbers nearest to `values`. Of 4 bits, comparing with each middle is
/// faster than a search: vector instructions do it for several values.
void BlockEncoder::findNearest(const float *values, uint64_t count, uint8_t *found) const {
  if (made.bits == 8) {
    for (uint64_t i = 0; i < count; ++i)
      found[i] = order[size_t(std::lower_bound(middles.begin(), middles.end(), values[i]) -
                              middles.begin())];
    return;
  }
  constexpr uint64_t kAtOnce = 64;
  for (uint64_t first = 0; first < count; first += kAtOnce) {
    const uint64_t now = std::min(kAtOnce, count - first);
    int32_t places[kAtOnce] = {};
    for (const float middle : middles)
      for (uint64_t i = 0; i < now; ++i)
        places[i] += middle < values[first + i] ? 1 : 0;
    for (uint64_t i = 0; i < now; ++i)
      found[first + i] = order[size_t(places[i])];
  }
}

static float scaleOf(const float *elements, uint64_t count) {
  float scale = kLeastScale;
  for (uint64_t i = 0; i < count; ++i)
    scale = std::max(scale, std::fabs(elements[i]));
  return scale;
}

void BlockEncoder::findScales(const float *elements, uint64_t count, float *scales) const {
  for (uint64_t first = 0; first < count; first += made.size)
    *scales++ = scaleOf(elements + first, std::min(made.size, count - first));
}

void BlockEncoder::encode(const float *elements, uint64_t count, uint8_t *bytes,
                          float *scales) const {
  std::vector<float> scaled(made.size);
  std::vector<uint8_t> codes(made.size);
  const uint64_t half = made.size / 2;
  for (uint64_t first = 0; first < count; first += made.size) {
    const uint64_t width = std::min(made.size, count - first);
    *scales = scaleOf(elements + first, width);
    const float inverse = 1 / *scales++; // as the update kernel and bitsandbytes do
    for (uint64_t i = 0; i < width; ++i)
      scaled[i] = elements[first + i] * inverse;
    findNearest(scaled.data(), width, codes.data());
    if (made.bits == 8)
      std::copy_n(codes.data(), width, bytes);
    else
      for (uint64_t i = 0; i < half; ++i)
        bytes[i] = uint8_t(codes[i] | codes[half + i] << 4u);
    bytes += made.blockBytes();
  }
}

} // namespace zero::rt
