//===- HomesTest.cpp - states that owners have whole ----------------------===//

#include "zero/Planning/Homes.h"

#include "gtest/gtest.h"

#include <numeric>
#include <set>

using namespace zero::planning;

static constexpr int64_t kAlignment = 64;

TEST(Homes, OfEqualItemsAreEqual) {
  // In group 0 each rank has states of one matrix; of those without a group rank 1 has two.
  const std::vector<WholeState> states = {{0, 0, 100, 0}, {0, 0, 30, 0},  {1, 0, 100, 1},
                                          {1, 0, 30, 1},  {1, -1, 30, 2}, {0, -1, 90, 3},
                                          {1, -1, 80, 4}};
  const Homes homes = planHomes(states, kAlignment);
  auto number = [&](size_t state) { return homes.states[state].number; };
  EXPECT_EQ(number(0), number(2));
  EXPECT_EQ(number(1), number(3));
  EXPECT_EQ(number(5), number(6)) << "the largest of each rank share a home";
  std::set<size_t> all;
  for (const Home &home : homes.states) {
    all.insert(home.number);
    EXPECT_EQ(home.start, 0) << "no two of a rank are as small as the largest";
  }
  EXPECT_EQ(all.size(), 4U) << "no home has states of two groups";
  ASSERT_EQ(homes.slices.size(), 4U);
  EXPECT_EQ(homes.slices[number(0)], 128);
  EXPECT_EQ(homes.slices[number(1)], 64);
  EXPECT_EQ(homes.slices[number(4)], 64);
  EXPECT_EQ(homes.slices[number(5)], 128);
}

TEST(Homes, AreFilled) {
  // Of Shampoo: rank 0 has two of the largest matrices, rank 1 one of these and two smaller ones.
  const std::vector<WholeState> states = {
      {0, 0, 1024, 0}, {0, 0, 64, 0},  {0, 0, 1024, 1}, {0, 0, 64, 1}, {1, 0, 64, 2},
      {1, 0, 1024, 2}, {1, 0, 576, 3}, {1, 0, 64, 3},   {1, 0, 64, 4}, {1, 0, 64, 4}};
  const Homes homes = planHomes(states, kAlignment);
  EXPECT_EQ(std::accumulate(homes.slices.begin(), homes.slices.end(), int64_t(0)), 2176)
      << "as many elements as rank 0 has";
  EXPECT_EQ(homes.slices[homes.states[4].number], 64)
      << "the largest matrix has a small state among large ones";
  for (size_t i = 0; i < states.size(); ++i) {
    const Home &own = homes.states[i];
    EXPECT_LE(own.start + states[i].elements, homes.slices[own.number]);
    for (size_t j = 0; j < i; ++j)
      EXPECT_TRUE(states[j].rank != states[i].rank || homes.states[j].number != own.number ||
                  homes.states[j].start + states[j].elements <= own.start ||
                  own.start + states[i].elements <= homes.states[j].start)
          << "states of a rank overlap";
  }
}
