//===- checked_test.cpp - arithmetic on untrusted numbers -----------------===//

#include "runtime/support/checked.h"

#include <gtest/gtest.h>
#include <vector>

using namespace zero;

namespace {

TEST(Checked, AddsAndMultiplies) {
  uint64_t number = 0;
  EXPECT_TRUE(checkedAdd(UINT64_MAX - 1, 1u, number));
  EXPECT_EQ(number, UINT64_MAX);
  EXPECT_FALSE(checkedAdd(UINT64_MAX, 1u, number));
  EXPECT_FALSE(checkedSubtract(uint64_t(0), 1u, number));
  EXPECT_TRUE(checkedMultiply(uint64_t(1) << 32, (uint64_t(1) << 32) - 1, number));
  EXPECT_FALSE(checkedMultiply(uint64_t(1) << 32, uint64_t(1) << 32, number));
  int64_t whole = 0;
  EXPECT_FALSE(checkedSubtract(INT64_MIN, 1, whole));
  EXPECT_FALSE(checkedMultiply(INT64_MIN, -1, whole));
}

TEST(Checked, Products) {
  uint64_t count = 1;
  EXPECT_TRUE(checkedProduct(std::vector<uint64_t>{3, 5}, 15, count));
  EXPECT_EQ(count, 15u);
  count = 1;
  EXPECT_FALSE(checkedProduct(std::vector<uint64_t>{3, 5}, 14, count));
  count = 1;
  EXPECT_FALSE(
      checkedProduct(std::vector<uint64_t>{uint64_t(1) << 40, 16, 0}, uint64_t(1) << 41, count));
  int64_t signedCount = 1;
  EXPECT_FALSE(checkedProduct(std::vector<int64_t>{-2, -3}, 100, signedCount));
}

TEST(Checked, SaturatingProducts) {
  EXPECT_EQ(saturatingProduct<uint64_t>(std::vector<uint64_t>{}), 1u);
  EXPECT_EQ(saturatingProduct<int64_t>(std::vector<int64_t>{3, 0, 5}), 0);
  EXPECT_EQ(saturatingProduct<int64_t>(std::vector<int64_t>{3, -1}), 0);
  EXPECT_EQ(saturatingProduct<int64_t>(std::vector<int64_t>{int64_t(1) << 40, 1 << 30}), INT64_MAX);
}

TEST(Checked, Ranges) {
  EXPECT_TRUE(isWithin(4, 4, 8));
  EXPECT_TRUE(isWithin(8, 0, 8));
  EXPECT_FALSE(isWithin(4, 5, 8));
  EXPECT_FALSE(isWithin(9, 0, 8));
  EXPECT_FALSE(isWithin(UINT64_MAX, 2, 8));
  EXPECT_FALSE(isWithin(2, UINT64_MAX, 8));
}

TEST(Checked, ParsesAllOfAText) {
  uint64_t whole = 1;
  EXPECT_TRUE(parseInteger("18446744073709551615", whole));
  EXPECT_EQ(whole, UINT64_MAX);
  for (const char *bad : {"", " 1", "1 ", "+1", "-1", "0x1", "1e3", "18446744073709551616"})
    EXPECT_FALSE(parseInteger(bad, whole)) << bad;
  int32_t narrow = 0;
  EXPECT_TRUE(parseInteger("-2147483648", narrow));
  EXPECT_FALSE(parseInteger("2147483648", narrow));
  double real = 0;
  EXPECT_TRUE(parseReal("-1.5e-3", real));
  EXPECT_EQ(real, -1.5e-3);
  for (const char *bad : {"", " 1", "1x", "nan", "inf", "1e999"})
    EXPECT_FALSE(parseReal(bad, real)) << bad;
  EXPECT_TRUE(parseDouble("-inf", real) && std::isinf(real));
  EXPECT_FALSE(parseDouble("1e999", real) || parseDouble("infinite", real));
}

} // namespace
