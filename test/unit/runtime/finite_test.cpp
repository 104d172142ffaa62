//===- finite_test.cpp - look for NaN and infinity ------------------------===//

#include "runtime/device/cpu/spread.h"
#include "runtime/support/finite.h"
#include "runtime/support/floats.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace zero::rt;

static constexpr DType kFloats[] = {ZERO_RT_F64, ZERO_RT_F32, ZERO_RT_BF16, ZERO_RT_F16};

/// `count` ones of `dtype`, and `value` at `place`.
static std::vector<char> ones(DType dtype, size_t count, size_t place, double value) {
  std::vector<char> bytes(count * sizeOf(dtype));
  fill(dtype, 1, bytes.data(), count);
  convertFloats(ZERO_RT_F64, &value, dtype, bytes.data() + place * sizeOf(dtype), 1);
  return bytes;
}

TEST(Finite, TheFirstIsFoundAtAnyPlace) {
  for (DType dtype : kFloats)
    for (size_t count : {1, 7, 1023, 1024, 1025, 5000})
      for (size_t place : {size_t(0), count / 2, count - 1})
        for (double value : {double(NAN), -double(NAN), double(INFINITY), -double(INFINITY)}) {
          std::vector<char> bytes = ones(dtype, count, place, value);
          EXPECT_EQ(findNonFinite(dtype, bytes.data(), count), place) << nameOf(dtype);
          EXPECT_EQ(isNan(dtype, &bytes[place * sizeOf(dtype)]), std::isnan(value));
        }
}

TEST(Finite, TheLargestAndSmallestNumbersAreFinite) {
  const double largest[] = {1.7976931348623157e308, 3.4028234663852886e38, 3.3895313892515355e38,
                            65504};
  for (size_t i = 0; i < std::size(kFloats); ++i)
    for (double value : {largest[i], -largest[i], 0.0, -0.0, 5e-324}) {
      std::vector<char> bytes = ones(kFloats[i], 3, 1, value);
      EXPECT_EQ(findNonFinite(kFloats[i], bytes.data(), 3), 3u) << value;
    }
  const int32_t bits = 0x7f800000; // infinity, if it were a float
  EXPECT_EQ(findNonFinite(ZERO_RT_I32, &bits, 1), 1u);
}

TEST(Finite, GapsBetweenTensorsMayBeAnything) {
  std::vector<char> bytes = ones(ZERO_RT_F32, 100, 45, NAN);
  FiniteCheck check(ZERO_RT_F32, bytes.data(), 100, {{50, 100, 7}, {0, 45, 3}});
  check.look(0, 100);
  EXPECT_FALSE(check.finding());
  for (size_t place : {99, 60, 44}) {
    const float infinity = INFINITY;
    std::memcpy(&bytes[place * sizeof(float)], &infinity, sizeof(infinity));
  }
  check.look(55, 100);
  ASSERT_TRUE(check.finding());
  EXPECT_EQ(check.finding()->tensor, 7u);
  EXPECT_FALSE(check.finding()->isNan);
  check.look(0, 50);
  EXPECT_EQ(check.finding()->tensor, 3u); // the first, whatever was looked at before
  check.look(90, 100);
  EXPECT_EQ(check.finding()->tensor, 3u);
  check.clear();
  EXPECT_FALSE(check.finding());
}

static void addOne(void *const *args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<float *>(args[0])[i] += 1;
}

TEST(Finite, ThreadsLookBeforeTheKernelChangesAPiece) {
  for (int threads : {1, 2, 5})
    for (size_t count : {100u, 4096u, 100003u}) {
      std::vector<char> bytes = ones(ZERO_RT_F32, count, count - 2, NAN);
      FiniteCheck check(ZERO_RT_F32, bytes.data(), count, {{0, count, 0}});
      void *args[] = {bytes.data()};
      spread(addOne, args, int64_t(count), threads, &check);
      ASSERT_TRUE(check.finding()) << threads << " threads";
      EXPECT_TRUE(check.finding()->isNan);
      std::vector<float> values(count);
      std::memcpy(values.data(), bytes.data(), bytes.size());
      for (size_t i = 0; i < count; ++i)
        if (i != count - 2)
          ASSERT_EQ(values[i], 2) << i; // each iteration ran once
    }
}
