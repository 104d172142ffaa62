//===- ChainTest.cpp - checkpoints of a chain of layers -------------------===//

#include "zero/Planning/Chain.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

using namespace zero::planning;

//===----------------------------------------------------------------------===//
// Revolve
//===----------------------------------------------------------------------===//

TEST(LeastAdvances, PublishedValues) {
  EXPECT_EQ(leastAdvances(10, 3), 15);
  EXPECT_EQ(leastAdvances(48, 5), 116);
  EXPECT_EQ(leastAdvances(96, 6), 264);
  EXPECT_EQ(leastAdvances(96, 10), 210);
}

TEST(LeastAdvances, WithOneSlotAndWithAll) {
  EXPECT_EQ(leastAdvances(1, 1), 0);
  EXPECT_EQ(leastAdvances(20, 1), 190);  // restarts from the beginning for each layer
  EXPECT_EQ(leastAdvances(20, 20), 19);  // only the forward pass
  EXPECT_EQ(leastAdvances(20, 900), 19); // more slots than layers
  EXPECT_EQ(leastAdvances(20, std::numeric_limits<int64_t>::max()), 19);
}

/// Evaluates the recurrence directly: tries every place to split the chain.
static int64_t byRecurrence(int64_t layers, int64_t slots) {
  static std::map<std::pair<int64_t, int64_t>, int64_t> known;
  if (layers <= 1)
    return 0;
  if (slots == 1)
    return layers * (layers - 1) / 2;
  auto [it, isNew] = known.try_emplace({layers, slots}, std::numeric_limits<int64_t>::max());
  if (!isNew)
    return it->second;
  int64_t best = it->second;
  for (int64_t k = 1; k < layers; ++k)
    best = std::min(best, k + byRecurrence(layers - k, slots - 1) + byRecurrence(k, slots));
  return known[{layers, slots}] = best;
}

TEST(LeastAdvances, IsTheRecurrence) {
  for (int64_t layers = 1; layers <= 60; ++layers)
    for (int64_t slots = 1; slots <= 12; ++slots)
      EXPECT_EQ(leastAdvances(layers, slots), byRecurrence(layers, slots))
          << layers << " layers, " << slots << " slots";
}

/// Executes a schedule and checks each action against what is stored. Returns the number of
/// advances.
static int64_t follow(const std::vector<ChainAction> &actions, int64_t layers, int64_t slots) {
  std::set<int64_t> stored{0};
  int64_t state = 0, advances = 0, next = layers - 1; // the next layer to tape
  for (const ChainAction &action : actions) {
    switch (action.kind) {
    case ChainAction::Kind::Advance:
      EXPECT_TRUE(stored.count(action.from)) << "advances from " << action.from;
      EXPECT_LT(action.from, action.to);
      advances += action.to - action.from;
      state = action.to;
      break;
    case ChainAction::Kind::Store:
      EXPECT_EQ(action.from, state);
      stored.insert(action.from);
      EXPECT_LE(int64_t(stored.size()), slots);
      break;
    case ChainAction::Kind::Tape:
      EXPECT_EQ(action.from, next--);
      EXPECT_TRUE(stored.count(action.from) || state == action.from) << "tapes " << action.from;
      stored.erase(action.from);
      break;
    }
  }
  EXPECT_EQ(next, -1) << "not all layers are reversed";
  return advances;
}

TEST(Revolve, SchedulesNeedTheLeastAdvances) {
  for (int64_t layers : {1, 2, 3, 7, 10, 48, 96})
    for (int64_t slots : {1, 2, 3, 5, 6, 10, 96, 200}) {
      SCOPED_TRACE(std::to_string(layers) + " layers, " + std::to_string(slots) + " slots");
      EXPECT_EQ(follow(revolve(layers, slots), layers, slots), leastAdvances(layers, slots));
    }
  EXPECT_TRUE(revolve(0, 3).empty());
}

TEST(Revolve, IsFastOnLongChains) {
  EXPECT_EQ(follow(revolve(20000, 20), 20000, 20), leastAdvances(20000, 20));
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

namespace {
struct Cost {
  int64_t liveOutputs = 0, forwards = 0;
};
} // namespace

/// Executes each segment a second time when backward reaches it, and counts what is live then.
static Cost reverseSegments(const std::vector<int64_t> &begins, int64_t layers) {
  Cost cost;
  std::set<int64_t> live; // layers whose outputs are live
  for (int64_t begin : begins)
    if (begin > 0)
      live.insert(begin - 1);
  live.insert(layers - 1);
  for (size_t i = begins.size(); i-- > 0;) {
    int64_t end = i + 1 < begins.size() ? begins[i + 1] : layers;
    for (int64_t layer = begins[i]; layer < end; ++layer, ++cost.forwards)
      live.insert(layer);
    cost.liveOutputs = std::max<int64_t>(cost.liveOutputs, live.size());
    for (int64_t layer = begins[i]; layer < end; ++layer)
      live.erase(layer);
  }
  EXPECT_TRUE(live.empty());
  return cost;
}

TEST(SublinearSegments, SquareRootOfEqualLayers) {
  std::vector<ChainLayer> layers(96, {/*output=*/1, /*inner=*/0});
  Cost cost = reverseSegments(sublinearSegments(layers), 96);
  EXPECT_LE(cost.liveOutputs, 20);
  EXPECT_LE(cost.forwards, 96);
}

/// The bytes of the states between segments plus the bytes of the largest segment.
static int64_t bytesOf(const std::vector<int64_t> &begins, const std::vector<ChainLayer> &layers) {
  int64_t between = 0, largest = 0;
  for (size_t i = 0; i < begins.size(); ++i) {
    size_t end = i + 1 < begins.size() ? begins[i + 1] : layers.size();
    int64_t bytes = 0;
    for (size_t layer = begins[i]; layer < end; ++layer)
      bytes += layers[layer].inner + layers[layer].output;
    largest = std::max(largest, bytes);
    between += begins[i] > 0 ? layers[begins[i] - 1].output : 0;
  }
  return between + largest;
}

TEST(SublinearSegments, LargeLayersMakeShortSegments) {
  std::vector<ChainLayer> layers(48, {/*output=*/1, /*inner=*/11});
  std::vector<int64_t> begins = sublinearSegments(layers);
  EXPECT_EQ(begins.size(), 24u); // two each: 23 + 24 is less than 47 + 12
  EXPECT_EQ(bytesOf(begins, layers), 47);
}

TEST(SublinearSegments, AgainstAllSegmentations) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<ChainLayer> layers(1 + random() % 10);
    for (ChainLayer &layer : layers)
      layer = {int64_t(1 + random() % 9), int64_t(random() % 40)};
    int64_t best = std::numeric_limits<int64_t>::max();
    for (unsigned cuts = 0; cuts < 1u << (layers.size() - 1); ++cuts) {
      std::vector<int64_t> begins{0};
      for (size_t i = 1; i < layers.size(); ++i)
        if (cuts >> (i - 1) & 1)
          begins.push_back(i);
      best = std::min(best, bytesOf(begins, layers));
    }
    std::vector<int64_t> begins = sublinearSegments(layers);
    EXPECT_EQ(begins.front(), 0);
    EXPECT_TRUE(std::is_sorted(begins.begin(), begins.end()));
    // This is a heuristic: it tries limits, not all segmentations.
    EXPECT_LE(bytesOf(begins, layers), 2 * best);
  }
}

TEST(SublinearSegments, NothingToCut) {
  EXPECT_TRUE(sublinearSegments({}).empty());
  EXPECT_EQ(sublinearSegments({{5, 9}}), std::vector<int64_t>{0});
}
