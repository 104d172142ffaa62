//===- random_test.cpp - tensors of random numbers ------------------------===//

#include "runtime/support/random.h"

#include <gtest/gtest.h>

using namespace zero::rt;

/// The known answers of Random123, the authors' own library.
TEST(Random, PhiloxIsTheAuthors) {
  const std::array<uint32_t, 4> ofZeros{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  EXPECT_EQ(philox(0, {0, 0, 0, 0}), ofZeros);
  const std::array<uint32_t, 4> ofOnes{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  EXPECT_EQ(philox(~0ULL, {~0U, ~0U, ~0U, ~0U}), ofOnes);
}

TEST(Random, ElementsDependOnStreamAndSeed) {
  const RandomTensor tensor{true, 0, 1, 5, 0}, other{true, 0, 1, 6, 0}, seeded{true, 0, 1, 5, 1};
  EXPECT_EQ(tensor.element(3), tensor.element(3));
  EXPECT_NE(tensor.element(3), tensor.element(4));
  EXPECT_NE(tensor.element(3), other.element(3));
  EXPECT_NE(tensor.element(3), seeded.element(3));
  EXPECT_NE(tensor.element(0), tensor.element(uint64_t(1) << 32));
}
