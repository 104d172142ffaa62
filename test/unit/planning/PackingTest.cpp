//===- PackingTest.cpp - offsets without overlap --------------------------===//

#include "zero/Planning/Packing.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

using namespace zero::planning;

static constexpr int64_t kAlignment = 256;

static bool meetInTime(const Lifetime &a, const Lifetime &b) {
  return a.begin <= b.end && b.begin <= a.end;
}

/// Asserts the guarantees of `pack` for any lifetimes.
static void expectLegal(const std::vector<Lifetime> &lifetimes, const Packing &packing) {
  ASSERT_EQ(packing.offsets.size(), lifetimes.size());
  EXPECT_GE(packing.bytes, packing.lowerBound);
  int64_t top = 0;
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    EXPECT_EQ(packing.offsets[i] % kAlignment, 0);
    EXPECT_GE(packing.offsets[i], 0);
    if (lifetimes[i].bytes == 0)
      continue;
    int64_t end = packing.offsets[i] + lifetimes[i].bytes;
    top = std::max(top, alignUp(end, kAlignment));
    for (size_t j = 0; j < i; ++j) {
      if (lifetimes[j].bytes == 0 || !meetInTime(lifetimes[i], lifetimes[j]))
        continue;
      EXPECT_TRUE(packing.offsets[j] >= end ||
                  packing.offsets[i] >= packing.offsets[j] + lifetimes[j].bytes)
          << "lifetimes " << j << " and " << i << " share bytes";
    }
  }
  EXPECT_EQ(top, packing.bytes);
}

/// The largest sum over commands of the live aligned bytes.
static int64_t mostLive(const std::vector<Lifetime> &lifetimes, int64_t lastCommand) {
  int64_t most = 0;
  for (int64_t command = 0; command <= lastCommand; ++command) {
    int64_t live = 0;
    for (const Lifetime &lifetime : lifetimes)
      if (lifetime.begin <= command && command <= lifetime.end)
        live += alignUp(lifetime.bytes, kAlignment);
    most = std::max(most, live);
  }
  return most;
}

static std::vector<Lifetime> randomLifetimes(std::mt19937 &random, int64_t count, int64_t commands,
                                             int64_t maxBytes) {
  std::vector<Lifetime> lifetimes;
  for (int64_t i = 0; i < count; ++i) {
    int64_t a = random() % commands, b = random() % commands;
    lifetimes.push_back({std::min(a, b), std::max(a, b), int64_t(random() % (maxBytes + 1))});
  }
  return lifetimes;
}

TEST(Packing, RandomLifetimesNeverMeet) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    auto lifetimes = randomLifetimes(random, 1 + random() % 60, 40, 5000);
    SCOPED_TRACE(round);
    expectLegal(lifetimes, pack(lifetimes, kAlignment));
  }
}

TEST(Packing, LowerBoundIsTheMostLiveBytes) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    auto lifetimes = randomLifetimes(random, 1 + random() % 30, 20, 2000);
    EXPECT_EQ(pack(lifetimes, kAlignment).lowerBound, mostLive(lifetimes, 20)) << round;
  }
}

TEST(Packing, PeakIsTheFirstCommandWithTheMostBytes) {
  std::vector<Lifetime> lifetimes = {{0, 2, 256}, {4, 9, 512}, {6, 7, 256}, {12, 13, 768}};
  Packing packing = pack(lifetimes, kAlignment);
  EXPECT_EQ(packing.peak, 6);
  EXPECT_EQ(packing.lowerBound, 768);
  EXPECT_EQ(packing.bytes, 768);
}

/// The size of the minimal arena. Some order of first fit reaches it.
static int64_t optimum(const std::vector<Lifetime> &lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> offsets(lifetimes.size());
    int64_t top = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const Lifetime &item = lifetimes[order[i]];
      int64_t bytes = alignUp(item.bytes, kAlignment), offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t j = 0; j < i; ++j) {
          int64_t from = offsets[order[j]];
          int64_t to = from + alignUp(lifetimes[order[j]].bytes, kAlignment);
          if (meetInTime(item, lifetimes[order[j]]) && offset < to && from < offset + bytes) {
            offset = to;
            moved = true;
          }
        }
      }
      offsets[order[i]] = offset;
      top = std::max(top, offset + bytes);
    }
    best = std::min(best, top);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Packing, TinyCasesAgainstBruteForce) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    auto lifetimes = randomLifetimes(random, 1 + random() % 7, 8, 2000);
    SCOPED_TRACE(round);
    Packing packing = pack(lifetimes, kAlignment);
    expectLegal(lifetimes, packing);
    EXPECT_TRUE(packing.optimal);
    EXPECT_EQ(packing.bytes, optimum(lifetimes));
  }
}

/// At most 8 units are live at any time. In an arena of 8 units, the first and the last of these
/// lifetimes would have to be at the two edges, each beside 6 units. The lifetime of 2 units
/// between them would have to touch an edge or the first, and an edge or the last.
TEST(Packing, TheOptimumMayLieAboveTheBound) {
  const int64_t unit = kAlignment;
  std::vector<Lifetime> lifetimes = {{0, 2, 2 * unit}, {0, 0, 6 * unit}, {1, 3, 2 * unit},
                                     {1, 1, 4 * unit}, {3, 3, 4 * unit}, {4, 4, 6 * unit},
                                     {2, 4, 2 * unit}};
  Packing packing = pack(lifetimes, kAlignment);
  expectLegal(lifetimes, packing);
  EXPECT_EQ(packing.lowerBound, 8 * unit);
  EXPECT_EQ(packing.bytes, 10 * unit);
  EXPECT_EQ(packing.bytes, optimum(lifetimes));
  EXPECT_TRUE(packing.optimal);
}

TEST(Packing, AHundredLifetimesAreWithinTwoPercent) {
  std::mt19937 random(7);
  int proven = 0, rounds = 30;
  for (int round = 0; round < rounds; ++round) {
    auto lifetimes = randomLifetimes(random, 100, 60, 1 << 20);
    SCOPED_TRACE(round);
    Packing packing = pack(lifetimes, kAlignment);
    expectLegal(lifetimes, packing);
    EXPECT_LE(packing.bytes * 100, packing.lowerBound * 102);
    proven += packing.optimal;
  }
  EXPECT_GE(proven, rounds * 9 / 10);
}

TEST(Packing, EnoughIsReachedWhereTheSmallestArenaIs) {
  std::mt19937 random(11);
  for (int turn = 0; turn < 50; ++turn) {
    const std::vector<Lifetime> lifetimes = randomLifetimes(random, 40, 20, 5000);
    const Packing smallest = pack(lifetimes, kAlignment);
    for (int64_t enough : {smallest.bytes, smallest.bytes * 9 / 8, smallest.bytes - kAlignment}) {
      const Packing first = pack(lifetimes, kAlignment, enough);
      expectLegal(lifetimes, first);
      EXPECT_EQ(first.bytes <= enough, smallest.bytes <= enough) << "turn " << turn;
      EXPECT_TRUE(!first.optimal || first.bytes == smallest.bytes) << "turn " << turn;
    }
  }
}

TEST(Packing, NothingTakesNothing) {
  Packing packing = pack({}, kAlignment);
  EXPECT_TRUE(packing.offsets.empty());
  EXPECT_EQ(packing.bytes, 0);
  EXPECT_EQ(packing.lowerBound, 0);
}

TEST(Packing, ZeroBytesGoToOffsetZero) {
  std::vector<Lifetime> lifetimes = {{0, 5, 0}, {0, 5, 100}, {2, 3, 0}};
  Packing packing = pack(lifetimes, kAlignment);
  expectLegal(lifetimes, packing);
  EXPECT_EQ(packing.offsets[0], 0);
  EXPECT_EQ(packing.offsets[2], 0);
  EXPECT_EQ(packing.bytes, 256);
}

TEST(Packing, EndsAreInclusive) {
  Packing touching = pack({{0, 3, 256}, {3, 5, 256}}, kAlignment);
  EXPECT_EQ(touching.bytes, 512);
  Packing apart = pack({{0, 3, 256}, {4, 5, 256}}, kAlignment);
  EXPECT_EQ(apart.bytes, 256);
}

TEST(Packing, SameInputSameOffsets) {
  std::mt19937 random(4);
  auto lifetimes = randomLifetimes(random, 200, 100, 100000);
  EXPECT_EQ(pack(lifetimes, kAlignment).offsets, pack(lifetimes, kAlignment).offsets);
}

/// Reads the lifetimes of a step from `data`, as `zero-pack-arena` received them: for a model of
/// test/data, or for SmolLM2-135M with a frozen base and adapters, with AdamW. A line has the form
/// "begin end bytes".
static std::vector<Lifetime> readLifetimes(const std::filesystem::path &file) {
  std::vector<Lifetime> lifetimes;
  std::ifstream in(file);
  for (Lifetime lifetime; in >> lifetime.begin >> lifetime.end >> lifetime.bytes;)
    lifetimes.push_back(lifetime);
  return lifetimes;
}

TEST(Packing, RecordedStepsAreWithinTwoPercentOrOptimal) {
  int steps = 0;
  for (const auto &entry : std::filesystem::directory_iterator(ZERO_LIFETIMES)) {
    SCOPED_TRACE(entry.path().filename().string());
    std::vector<Lifetime> lifetimes = readLifetimes(entry.path());
    ASSERT_FALSE(lifetimes.empty());
    Packing packing = pack(lifetimes, kAlignment);
    expectLegal(lifetimes, packing);
    if (lifetimes.size() > 100)
      EXPECT_LE(packing.bytes * 100, packing.lowerBound * 102);
    else
      EXPECT_TRUE(packing.optimal);
    EXPECT_EQ(packing.offsets, pack(lifetimes, kAlignment).offsets);
    ++steps;
  }
  EXPECT_GE(steps, 20);
}

/// The shape of a step: nested activations are live from forward to backward, beside short
/// temporaries. No bytes may be lost between them.
TEST(Packing, NestedActivationsReachTheBound) {
  std::vector<Lifetime> lifetimes;
  const int64_t layers = 100, commands = 2 * layers;
  for (int64_t layer = 0; layer < layers; ++layer) {
    lifetimes.push_back({layer, commands - layer, 4096});
    lifetimes.push_back({layer, layer + 1, 1024});
  }
  Packing packing = pack(lifetimes, kAlignment);
  expectLegal(lifetimes, packing);
  EXPECT_EQ(packing.bytes, packing.lowerBound);
}

TEST(LiveBytes, SumsAfterEachEvent) {
  auto live = liveBytes({{0, 1, 100}, {1, 4, 300}}, kAlignment);
  std::vector<std::pair<int64_t, int64_t>> expected = {{0, 256}, {1, 768}, {2, 512}, {5, 0}};
  EXPECT_EQ(live, expected);
}

TEST(LiveBytes, EndsAtZeroAndPeaksAtTheBound) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    auto lifetimes = randomLifetimes(random, 20, 30, 3000);
    auto live = liveBytes(lifetimes, kAlignment);
    int64_t most = 0;
    for (auto [command, bytes] : live)
      most = std::max(most, bytes);
    EXPECT_EQ(live.back().second, 0);
    EXPECT_EQ(most, mostLive(lifetimes, 30));
  }
  EXPECT_TRUE(liveBytes({}, kAlignment).empty());
}

TEST(AlignUp, RoundsToTheNextMultiple) {
  EXPECT_EQ(alignUp(0, 256), 0);
  EXPECT_EQ(alignUp(1, 256), 256);
  EXPECT_EQ(alignUp(256, 256), 256);
  EXPECT_EQ(alignUp(257, 256), 512);
}
