//===- BucketsTest.cpp - tensors in flat buffers --------------------------===//

#include "zero/Planning/Buckets.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace zero::planning;

static constexpr int64_t kAlignment = 64;
static constexpr int64_t kNoLimit = INT64_MAX / 8;

/// A float tensor of `elements`. Tensors of the same size have the same shape.
static BucketItem item(int64_t elements, uint64_t kind = 0, bool alone = false) {
  return {elements, /*elementBytes=*/4, /*shape=*/uint64_t(elements), kind, alone};
}

/// Returns `prefix`, then `layer` repeated `layers` times, then `suffix`. The numbers are elements.
static std::vector<BucketItem> periodic(std::vector<int64_t> prefix, std::vector<int64_t> layer,
                                        int layers, std::vector<int64_t> suffix) {
  std::vector<BucketItem> items;
  auto append = [&](const std::vector<int64_t> &sizes) {
    for (int64_t elements : sizes)
      items.push_back(item(elements));
  };
  append(prefix);
  for (int i = 0; i < layers; ++i)
    append(layer);
  append(suffix);
  return items;
}

static std::vector<int64_t> bucketNumbers(const Buckets &buckets) {
  std::vector<int64_t> numbers;
  for (const BucketSlot &slot : buckets.slots)
    numbers.push_back(slot.bucket);
  return numbers;
}

//===----------------------------------------------------------------------===//
// findLayers
//===----------------------------------------------------------------------===//

static void expectLayers(const std::vector<BucketItem> &items, int64_t begin, int64_t period,
                         int64_t end) {
  Repetition layers = findLayers(items);
  EXPECT_EQ(layers.begin, begin);
  EXPECT_EQ(layers.period, period);
  EXPECT_EQ(layers.end, end);
}

TEST(FindLayers, BetweenPrefixAndSuffix) {
  expectLayers(periodic({7, 9}, {100, 10, 200}, 4, {5}), 2, 3, 14);
}

TEST(FindLayers, WithoutPrefixOrSuffix) { expectLayers(periodic({}, {100, 10}, 3, {}), 0, 2, 6); }

TEST(FindLayers, TwoLayersAreEnough) {
  expectLayers(periodic({7}, {100, 10, 30}, 2, {5}), 1, 3, 7);
}

TEST(FindLayers, ShortestPeriodOfEqualOnes) {
  // A period of two layers also repeats, but it covers less.
  EXPECT_EQ(findLayers(periodic({}, {8, 4}, 8, {})).period, 2);
}

TEST(FindLayers, RepetitionInsideALayerIsNotTheLayer) {
  // Two equal matrices in each layer, as in key and value projections.
  EXPECT_EQ(findLayers(periodic({3}, {50, 50, 9}, 5, {})).period, 3);
}

TEST(FindLayers, NothingRepeats) {
  EXPECT_EQ(findLayers(periodic({1, 2, 3, 4, 5}, {}, 0, {})).period, 0);
  EXPECT_EQ(findLayers({}).period, 0);
  EXPECT_EQ(findLayers({item(3)}).period, 0);
}

TEST(FindLayers, KindsTellLayersApart) {
  std::vector<BucketItem> items = {item(8, 0), item(8, 1), item(8, 2), item(8, 3)};
  EXPECT_EQ(findLayers(items).period, 0);
}

//===----------------------------------------------------------------------===//
// planBuckets
//===----------------------------------------------------------------------===//

TEST(PlanBuckets, StartsAndPadding) {
  Buckets buckets = planBuckets({item(1), item(64), item(65)}, /*ranks=*/4, kNoLimit, kAlignment);
  EXPECT_EQ(bucketNumbers(buckets), (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(buckets.slots[0].start, 0);
  EXPECT_EQ(buckets.slots[1].start, 64);
  EXPECT_EQ(buckets.slots[2].start, 128);
  EXPECT_EQ(buckets.elements, (std::vector<int64_t>{256}));
}

TEST(PlanBuckets, OneBucketForEachLayer) {
  auto items = periodic({7}, {100, 10}, 3, {5});
  Buckets buckets = planBuckets(items, 2, kNoLimit, kAlignment);
  EXPECT_EQ(bucketNumbers(buckets), (std::vector<int64_t>{0, 1, 1, 2, 2, 3, 3, 4}));
  EXPECT_EQ(buckets.elements, (std::vector<int64_t>{128, 256, 256, 256, 128}));
}

TEST(PlanBuckets, KindsNeverShare) {
  std::vector<BucketItem> items = {item(10, 0), item(11, 1), item(12, 0), item(13, 1)};
  Buckets buckets = planBuckets(items, 2, kNoLimit, kAlignment);
  EXPECT_EQ(bucketNumbers(buckets), (std::vector<int64_t>{0, 1, 0, 1}));
}

TEST(PlanBuckets, LimitOpensTheNext) {
  std::vector<BucketItem> items = {item(64), item(63), item(62), item(61)};
  Buckets buckets = planBuckets(items, 1, /*limit=*/2 * 64 * 4, kAlignment);
  EXPECT_EQ(bucketNumbers(buckets), (std::vector<int64_t>{0, 0, 1, 1}));
}

TEST(PlanBuckets, TensorLargerThanTheLimitIsWhole) {
  std::vector<BucketItem> items = {item(10), item(1000), item(11)};
  Buckets buckets = planBuckets(items, 2, /*limit=*/100, kAlignment);
  EXPECT_EQ(bucketNumbers(buckets), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(buckets.elements[1], 1024);
}

TEST(PlanBuckets, AloneIsABucketOfItsOwn) {
  std::vector<BucketItem> items = {item(10), item(500, 0, /*alone=*/true), item(12)};
  Buckets buckets = planBuckets(items, 2, kNoLimit, kAlignment);
  EXPECT_EQ(bucketNumbers(buckets), (std::vector<int64_t>{0, 1, 0}));
}

TEST(PlanBuckets, NothingToPlan) {
  Buckets buckets = planBuckets({}, 4, kNoLimit, kAlignment);
  EXPECT_TRUE(buckets.slots.empty());
  EXPECT_TRUE(buckets.elements.empty());
}

static std::vector<BucketItem> randomItems(std::mt19937 &random) {
  std::vector<BucketItem> items;
  for (unsigned i = 0, count = random() % 40; i < count; ++i)
    items.push_back(item(1 + random() % 500, random() % 3, random() % 8 == 0));
  return items;
}

/// Asserts the guarantees of `planBuckets` for any items.
static void expectLegal(const std::vector<BucketItem> &items, const Buckets &buckets, int64_t ranks,
                        int64_t limit) {
  ASSERT_EQ(buckets.slots.size(), items.size());
  std::vector<int64_t> used(buckets.elements.size());
  std::map<int64_t, std::vector<size_t>> members;
  for (size_t i = 0; i < items.size(); ++i) {
    const BucketSlot &slot = buckets.slots[i];
    ASSERT_LT(size_t(slot.bucket), used.size());
    EXPECT_EQ(slot.start % kAlignment, 0);
    // Slots are in order and do not overlap: each one starts where the previous ones ended.
    EXPECT_GE(slot.start, used[slot.bucket]);
    EXPECT_LT(slot.start - used[slot.bucket], kAlignment);
    used[slot.bucket] = slot.start + items[i].elements;
    members[slot.bucket].push_back(i);
  }
  for (auto &[bucket, list] : members) {
    EXPECT_EQ(buckets.elements[bucket] % (ranks * kAlignment), 0);
    EXPECT_GE(buckets.elements[bucket], used[bucket]);
    EXPECT_LT(buckets.elements[bucket] - used[bucket], ranks * kAlignment + kAlignment);
    std::set<uint64_t> kinds;
    for (size_t i : list) {
      kinds.insert(items[i].kind);
      EXPECT_TRUE(!items[i].alone || list.size() == 1);
    }
    EXPECT_EQ(kinds.size(), 1u);
    EXPECT_TRUE(list.size() == 1 || used[bucket] * 4 <= limit);
  }
  EXPECT_EQ(members.size(), buckets.elements.size()) << "an empty bucket";
}

TEST(PlanBuckets, RandomItems) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    auto items = randomItems(random);
    int64_t ranks = 1 + random() % 8, limit = 400 + random() % 8000;
    expectLegal(items, planBuckets(items, ranks, limit, kAlignment), ranks, limit);
  }
}

TEST(PlanBuckets, StartsDoNotDependOnRanks) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    auto items = randomItems(random);
    Buckets one = planBuckets(items, 1, 4000, kAlignment);
    Buckets eight = planBuckets(items, 8, 4000, kAlignment);
    for (size_t i = 0; i < items.size(); ++i) {
      EXPECT_EQ(one.slots[i].bucket, eight.slots[i].bucket);
      EXPECT_EQ(one.slots[i].start, eight.slots[i].start);
    }
  }
}

TEST(PlanBuckets, GivesEachOwnerASlice) {
  std::vector<BucketItem> items = periodic({}, {100, 300}, 4, {});
  for (BucketItem &each : items)
    each.isOwnable = true;
  items.insert(items.begin(), item(10));
  const int64_t ranks = 4;
  Buckets buckets = planBuckets(items, ranks, kNoLimit, kAlignment,
                                planOwners(items, {ranks, kNoLimit, kAlignment}));
  for (size_t index = 1; index < items.size(); ++index) {
    const BucketSlot &slot = buckets.slots[index];
    const int64_t slice = buckets.elements[slot.bucket] / ranks;
    EXPECT_EQ(slot.start, int64_t((index - 1) / 2) * slice);
    EXPECT_GE(slice, items[index].elements);
    EXPECT_LT(slice, items[index].elements + kAlignment);
  }
}
