//===- half_test.cpp - vector conversions of 16-bit floats ----------------===//

#include "runtime/support/half.h"

#include "runtime/support/floats.h"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>
#include <xmmintrin.h>

using namespace zero::rt;

namespace {

/// The element that `bits` denote, and its inverse, by the conversions of the language.
float widened(DType type, uint16_t bits) {
  if (type == ZERO_RT_F16)
    return static_cast<float>(std::bit_cast<_Float16>(bits));
  BFloat16 value;
  value.bits = bits;
  return value;
}

uint16_t narrowed(DType type, float value) {
  return type == ZERO_RT_F16 ? std::bit_cast<uint16_t>(static_cast<_Float16>(value))
                             : BFloat16(value).bits;
}

class Half : public testing::TestWithParam<DType> {};

/// Converts all bit patterns. The thread flushes subnormals as the threads of ranks do.
TEST_P(Half, WidensEveryBitPattern) {
  std::vector<uint16_t> all(65536);
  std::iota(all.begin(), all.end(), 0);
  std::vector<float> got(all.size());
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  widenHalves(GetParam(), all.data(), got.data(), all.size());
  std::vector<uint16_t> back(all.size());
  narrowToHalves(GetParam(), got.data(), back.data(), got.size());
  _mm_setcsr(before);
  for (uint16_t bits : all) {
    const float expected = widened(GetParam(), bits);
    ASSERT_EQ(std::bit_cast<uint32_t>(got[bits]), std::bit_cast<uint32_t>(expected)) << bits;
    if (!std::isnan(expected))
      ASSERT_EQ(back[bits], bits);
    else
      ASSERT_TRUE(std::isnan(widened(GetParam(), back[bits])));
  }
}

/// Every exponent with the relevant fractions: ties, their neighbours, and a sample of the rest.
TEST_P(Half, NarrowsToNearestEven) {
  std::vector<float> values;
  for (uint32_t top = 0; top < 65536; ++top)
    for (uint32_t low :
         {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x5a5au, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      values.push_back(std::bit_cast<float>(top << 16 | low));
  std::vector<uint16_t> got(values.size());
  narrowToHalves(GetParam(), values.data(), got.data(), values.size());
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(got[i], narrowed(GetParam(), values[i])) << values[i];
}

TEST_P(Half, TouchesNothingElse) {
  for (size_t count = 0; count < 70; ++count) {
    std::vector<uint16_t> source(count + 1, 0x3c01);
    std::vector<char> wide(4 * count + 9, 0x5a);
    float *at = reinterpret_cast<float *>(wide.data() + 1); // unaligned
    widenHalves(GetParam(), source.data(), at, count);
    EXPECT_EQ(wide[0], 0x5a);
    for (size_t i = 4 * count + 1; i < wide.size(); ++i)
      ASSERT_EQ(wide[i], 0x5a) << count;
    std::vector<uint16_t> back(count + 8, 0x1234);
    narrowToHalves(GetParam(), at, back.data(), count);
    for (size_t i = 0; i < back.size(); ++i)
      ASSERT_EQ(back[i], i < count ? 0x3c01 : 0x1234) << count;
  }
}

TEST_P(Half, WidensInPlace) {
  for (size_t count : {1, 15, 16, 17, 100, 1000}) {
    std::vector<float> place(count);
    auto *source = reinterpret_cast<char *>(place.data()) + 2 * count;
    for (size_t i = 0; i < count; ++i) {
      const auto bits = static_cast<uint16_t>(0x3c00 + i);
      std::memcpy(source + 2 * i, &bits, 2);
    }
    convertFloats(GetParam(), source, ZERO_RT_F32, place.data(), count);
    for (size_t i = 0; i < count; ++i)
      ASSERT_EQ(place[i], widened(GetParam(), static_cast<uint16_t>(0x3c00 + i)));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Half, testing::Values(ZERO_RT_F16, ZERO_RT_BF16),
                         [](const auto &info) { return std::string(nameOf(info.param)); });

} // namespace
