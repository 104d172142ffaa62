//===- RepetitionTest.cpp - the repeated structure of a sequence ----------===//

#include "zero/Planning/Repetition.h"

#include "gtest/gtest.h"

#include <ctime>
#include <random>

using namespace zero::planning;

static std::vector<uint64_t> repeated(std::vector<uint64_t> before, std::vector<uint64_t> layer,
                                      int times, std::vector<uint64_t> after) {
  std::vector<uint64_t> symbols = std::move(before);
  for (int i = 0; i < times; ++i)
    symbols.insert(symbols.end(), layer.begin(), layer.end());
  symbols.insert(symbols.end(), after.begin(), after.end());
  return symbols;
}

static Repetition find(const std::vector<uint64_t> &symbols) {
  return findRepetition(symbols, std::vector<int64_t>(symbols.size(), 1));
}

TEST(FindRepetition, OfMoreLayersThanPeriodsAreTried) {
  // A norm and a product occur twice in a layer of ten launches.
  Repetition layers = find(repeated({1, 2}, {3, 4, 5, 6, 3, 7, 8, 6, 9, 9}, 96, {3, 10}));
  EXPECT_EQ(layers.period, 10);
  EXPECT_EQ(layers.begin, 2);
  EXPECT_EQ(layers.end, 963); // the norm that follows looks like the start of another layer
}

TEST(FindRepetition, WeightTellsWhichOneCounts) {
  std::vector<uint64_t> symbols = repeated(repeated({}, {1, 2, 3}, 4, {}), {4, 5}, 9, {});
  std::vector<int64_t> weights(symbols.size(), 1);
  EXPECT_EQ(findRepetition(symbols, weights).period, 2);
  std::fill_n(weights.begin(), 12, 10);
  EXPECT_EQ(findRepetition(symbols, weights).period, 3);
}

TEST(FindRepetition, NothingRepeats) {
  EXPECT_EQ(find({}).period, 0);
  EXPECT_EQ(find({1}).period, 0);
  EXPECT_EQ(find({1, 2, 3, 4}).period, 0);
}

TEST(FindRepetition, IsNearLinear) {
  std::mt19937 random(3);
  std::vector<uint64_t> layer(200);
  for (uint64_t &symbol : layer)
    symbol = random() % 50;
  std::vector<uint64_t> symbols = repeated({}, layer, 100, {});
  std::clock_t start = std::clock();
  EXPECT_EQ(find(symbols).period, 200);
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 0.1); // for 20,000 launches; trying all 10,000 periods takes longer
}
