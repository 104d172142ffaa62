#include "zero/Planning/Remat.h"

#include <gtest/gtest.h>

#include <random>

using namespace zero::planning;

namespace {

/// A chain of `layers` with random inner values, and the backward that reads them.
RematProblem makeChain(int layers, int inner, unsigned seed) {
  std::mt19937 random(seed);
  RematProblem problem;
  auto addValue = [&](int64_t bytes) {
    problem.bytes.push_back(bytes);
    return static_cast<int>(problem.bytes.size()) - 1;
  };
  auto pick = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  int stream = addValue(8);
  problem.nodes.push_back({1, {}, {stream}, -1, true});
  std::vector<std::vector<int>> saved(layers);
  for (int layer = 0; layer < layers; ++layer) {
    saved[layer].push_back(stream);
    int last = stream;
    for (int i = 0; i < inner; ++i) {
      int value = addValue(i + 1 == inner ? 8 : pick(1, 32));
      std::vector<int> reads{last};
      if (i > 0 && pick(0, 2) == 0)
        reads.push_back(stream);
      problem.nodes.push_back({double(pick(1, 20)), reads, {value}, layer, true});
      if (i + 1 < inner && pick(0, 3) != 0)
        saved[layer].push_back(value);
      last = value;
    }
    stream = last;
    problem.boundaries.push_back({stream});
  }
  int gradient = addValue(8);
  problem.nodes.push_back({5, {stream}, {gradient}, -1, false});
  for (int layer = layers - 1; layer >= 0; --layer) {
    std::vector<int> reads = saved[layer];
    reads.push_back(gradient);
    gradient = addValue(8);
    problem.nodes.push_back({20, reads, {gradient}, -1, false});
  }
  return problem;
}

/// The seconds of the fastest plan within `budget`, found by trying every plan.
double bruteForce(const RematProblem &problem, int64_t budget) {
  std::vector<int> free;
  for (const RematProblem::Node &node : problem.nodes)
    if (node.layer >= 0)
      free.insert(free.end(), node.writes.begin(), node.writes.end());
  double best = -1;
  for (unsigned bits = 0; bits < 1u << free.size(); ++bits) {
    Kept kept = keepAll(problem);
    for (size_t i = 0; i < free.size(); ++i)
      kept[free[i]] = bits >> i & 1;
    RematCost cost = simulate(problem, kept);
    if (cost.peak <= budget && (best < 0 || cost.seconds < best))
      best = cost.seconds;
  }
  return best;
}

} // namespace

TEST(Remat, KeepingAllCostsNothing) {
  RematProblem problem = makeChain(4, 4, 1);
  RematCost cost = simulate(problem, keepAll(problem));
  EXPECT_EQ(cost.seconds, 0);
  int64_t sum = 0;
  for (int64_t bytes : problem.bytes)
    sum += bytes;
  EXPECT_LE(cost.peak, sum);
}

TEST(Remat, PlaysAChainAsOneWouldByHand) {
  // x0 -> a (10 bytes) -> x1 -> b (10 bytes) -> x2; backward reads b and x1, then a and x0.
  RematProblem problem;
  problem.bytes = {1, 10, 1, 10, 1, 1, 1};
  problem.nodes = {{1, {}, {0}, -1, true},        {2, {0}, {1}, 0, true},
                   {3, {1}, {2}, 0, true},        {2, {2}, {3}, 1, true},
                   {3, {3}, {4}, 1, true},        {1, {4, 3, 2}, {5}, -1, false},
                   {1, {5, 1, 0}, {6}, -1, false}};
  problem.boundaries = {{2}, {4}};
  EXPECT_EQ(simulate(problem, keepAll(problem)).peak, 24); // x0 a x1 b x2 and the gradient
  Kept layers = keepBoundaries(problem, 1);
  RematCost cost = simulate(problem, layers);
  EXPECT_EQ(cost.seconds, 4); // recomputes a and b; x1 and x2 need no recomputation
  EXPECT_EQ(cost.peak, 14);   // x0 x1 x2 b and the gradient
  EXPECT_EQ(findRepeated(problem, layers), (std::vector<char>{0, 1, 0, 1, 0, 0, 0}));
  // Without boundaries, x2 is recomputed from x1 and x1 from x0, so all of forward runs twice.
  cost = simulate(problem, keepBoundaries(problem, 0));
  EXPECT_EQ(cost.seconds, 10);
}

TEST(Remat, GreedyObeysTheBudgetAndIsNearTheOptimum) {
  double greedySum = 0, bestSum = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    RematProblem problem = makeChain(3, 4, seed);
    Kept least = keepBoundaries(problem, 1);
    int64_t low = simulate(problem, least).peak, high = simulate(problem, keepAll(problem)).peak;
    for (int64_t budget = low; budget <= high; budget += std::max<int64_t>(1, (high - low) / 4)) {
      RematCost cost = simulate(problem, keepGreedily(problem, least, budget));
      ASSERT_LE(cost.peak, budget) << seed;
      double best = bruteForce(problem, budget);
      ASSERT_GE(cost.seconds, best) << seed;
      greedySum += cost.seconds;
      bestSum += best;
    }
  }
  RecordProperty("greedy_over_optimum_percent", static_cast<int>(100 * greedySum / bestSum));
  std::printf("greedy takes %.3f times the seconds of the optimum\n", greedySum / bestSum);
  EXPECT_LE(greedySum, 1.15 * bestSum);
}

TEST(Remat, GreedySkipsWhatDoesNotFitAndGoesOn) {
  // The best move is too large, but the smaller one after it fits.
  RematProblem problem;
  problem.bytes = {1, 100, 1, 1, 1, 50};
  problem.nodes = {{1, {}, {0}, -1, true},     {1000, {0}, {1}, 0, true}, {1, {0}, {2}, 0, true},
                   {1, {1, 2}, {3}, 0, true},  {1, {3}, {4}, -1, true},   {1, {4}, {5}, -1, false},
                   {1, {2, 0}, {}, -1, false}, {1, {1}, {}, -1, false}};
  problem.boundaries = {{3}};
  Kept kept = keepGreedily(problem, keepBoundaries(problem, 1), 110);
  EXPECT_FALSE(kept[1]);
  EXPECT_TRUE(kept[2]);
}

TEST(Remat, WhatIsOverwrittenIsMadeAgain) {
  RematProblem problem = makeChain(2, 3, 3);
  int inner = problem.nodes[1].writes.front();
  problem.nodes.back().reads.push_back(inner);
  problem.fates.assign(problem.bytes.size(), RematProblem::Fate::Free);
  problem.fates[inner] = RematProblem::Fate::Goes;
  EXPECT_EQ(simulate(problem, keepAll(problem)).seconds, problem.nodes[1].seconds);
  Kept kept = keepGreedily(problem, keepBoundaries(problem, 1), 1 << 20);
  EXPECT_FALSE(kept[inner]);
  problem.fates[inner] = RematProblem::Fate::Saved;
  EXPECT_TRUE(keepBoundaries(problem, 0)[inner]);
}

TEST(Remat, SavedBytesAreLiveWhenForwardEnds) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    RematProblem problem = makeChain(5, 4, seed);
    for (const Kept &kept : planLadder(problem, 8))
      EXPECT_LE(savedBytes(problem, kept), simulate(problem, kept).peak);
  }
}

TEST(Remat, TheLadderIsSortedAndEveryRungIsWorthIt) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    RematProblem problem = makeChain(12, 5, seed);
    std::vector<Kept> ladder = planLadder(problem, 16);
    ASSERT_GE(ladder.size(), 4u);
    EXPECT_EQ(simulate(problem, ladder.front()).seconds, 0);
    for (size_t i = 1; i < ladder.size(); ++i) {
      RematCost before = simulate(problem, ladder[i - 1]), now = simulate(problem, ladder[i]);
      EXPECT_LT(now.peak, before.peak);
      EXPECT_GT(now.seconds, before.seconds);
    }
    EXPECT_EQ(ladder, planLadder(problem, 16)) << "not reproducible";
  }
}

/// A chain of equal layers: repeats the layer that makeChain(1, ...) makes.
static RematProblem repeatLayer(int layers, int inner, unsigned seed) {
  RematProblem problem;
  std::mt19937 random(seed);
  std::vector<int64_t> bytes;
  std::vector<double> seconds;
  for (int i = 0; i < inner; ++i) {
    bytes.push_back(std::uniform_int_distribution<int>(1, 32)(random));
    seconds.push_back(std::uniform_int_distribution<int>(1, 20)(random));
  }
  auto add = [&](double time, std::vector<int> reads, int64_t size, int layer, bool forward) {
    problem.bytes.push_back(size);
    const int value = static_cast<int>(problem.bytes.size()) - 1;
    problem.nodes.push_back({time, std::move(reads), {value}, layer, forward});
    return value;
  };
  int last = add(1, {}, 8, -1, true);
  std::vector<std::vector<int>> saved(layers);
  for (int layer = 0; layer < layers; ++layer) {
    for (int i = 0; i < inner; ++i) {
      saved[layer].push_back(last);
      last = add(seconds[i], {last}, bytes[i], layer, true);
    }
    problem.boundaries.push_back({last});
  }
  int gradient = add(5, {last}, 8, -1, false);
  for (int layer = layers - 1; layer >= 0; --layer)
    for (int i = inner - 1; i >= 0; --i)
      gradient = add(2 * seconds[i], {saved[layer][i], gradient}, bytes[i], -1, false);
  return problem;
}

TEST(Remat, PlanningGrowsWithTheLayersAndNotFaster) {
  RematWork few, many;
  planLadder(repeatLayer(48, 8, 1), 24, &few);
  planLadder(repeatLayer(384, 8, 1), 24, &many);
  std::printf(
      "48 layers: %llu runs played, %llu values weighed; 384: %llu and %llu\n",
      static_cast<unsigned long long>(few.played), static_cast<unsigned long long>(few.weighed),
      static_cast<unsigned long long>(many.played), static_cast<unsigned long long>(many.weighed));
  EXPECT_LE(many.played, 8 * few.played * 3 / 2);
  EXPECT_LE(many.weighed, 2 * few.weighed); // equal layers are evaluated once
}
