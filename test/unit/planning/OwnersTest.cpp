//===- OwnersTest.cpp - matrices and the ranks that update them -----------===//

#include "zero/Planning/Owners.h"

#include "zero/Planning/Buckets.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace zero::planning;

static constexpr int64_t kNoLimit = INT64_MAX;
static constexpr int64_t kAlignment = 64;

/// A matrix of `rows` x `columns` floats.
static BucketItem matrix(int64_t rows, int64_t columns) {
  BucketItem item{rows * columns, /*elementBytes=*/4, /*shape=*/uint64_t(rows << 32 | columns)};
  item.isOwnable = true;
  item.operations = double(item.elements) * double(std::min(rows, columns));
  return item;
}

/// The matrices of `layers` layers of GPT-2 of `width`.
static std::vector<BucketItem> gpt2(int layers, int64_t width) {
  std::vector<BucketItem> items;
  for (int layer = 0; layer < layers; ++layer)
    for (auto [rows, columns] : {std::pair{1, 3}, {1, 1}, {1, 4}, {4, 1}})
      items.push_back(matrix(rows * width, columns * width));
  return items;
}

/// What ranks do and store.
struct Shares {
  double most = 0, mean = 0; ///< operations
  int64_t stored = 0;        ///< elements of the slices of all groups
  double even = 0;           ///< elements of items in groups / ranks
  size_t numGrouped = 0;
};

/// Checks that items of a group are inside of slices, without overlap, and not more than `limit`
/// bytes.
static Shares sharesOf(const std::vector<BucketItem> &items, const Owners &owners, int64_t ranks,
                       int64_t limit = kNoLimit) {
  Shares shares;
  std::vector<double> operations(size_t(ranks), 0);
  for (size_t i = 0; i < items.size(); ++i) {
    const Owner &owner = owners.items[i];
    if (!items[i].isOwnable) {
      EXPECT_EQ(owner.rank, -1);
      continue;
    }
    EXPECT_TRUE(owner.rank >= 0 && owner.rank < ranks);
    operations[size_t(owner.rank)] += items[i].operations;
    if (owner.group < 0)
      continue;
    ++shares.numGrouped;
    shares.even += double(items[i].elements) / double(ranks);
    const int64_t slice = owners.slices[size_t(owner.group)];
    EXPECT_EQ(owner.start % kAlignment, 0);
    EXPECT_LE(owner.start + items[i].elements, slice);
    EXPECT_LE(slice * ranks * items[i].elementBytes, limit);
    for (size_t j = 0; j < i; ++j) {
      const Owner &other = owners.items[j];
      if (other.group != owner.group)
        continue;
      EXPECT_EQ(items[j].kind, items[i].kind);
      EXPECT_TRUE(other.rank != owner.rank || other.start + items[j].elements <= owner.start ||
                  owner.start + items[i].elements <= other.start);
    }
  }
  for (int64_t slice : owners.slices)
    shares.stored += slice;
  for (double each : operations) {
    shares.most = std::max(shares.most, each);
    shares.mean += each / double(ranks);
  }
  return shares;
}

static Shares plan(const std::vector<BucketItem> &items, int64_t ranks, int64_t limit = kNoLimit) {
  return sharesOf(items, planOwners(items, {ranks, limit, kAlignment}), ranks, limit);
}

TEST(PlanOwners, DividesLayersEvenly) {
  const Shares shares = plan(gpt2(8, 64), 4);
  EXPECT_NEAR(shares.most, shares.mean, 1e-6 * shares.mean);
  EXPECT_NEAR(double(shares.stored), shares.even, 1e-6);
}

TEST(PlanOwners, PutsMatricesOfDifferentShapesIntoEqualSlices) {
  // 3 + 1 + 4 + 4 units in each of two layers: 4 + 4, 4 + 4 and 3 + 3 + 1 + 1.
  const Shares shares = plan(gpt2(2, 64), 3);
  EXPECT_EQ(shares.numGrouped, 8U);
  EXPECT_NEAR(shares.most, shares.mean, 1e-6 * shares.mean);
  EXPECT_NEAR(double(shares.stored), shares.even, 1e-6);
}

TEST(PlanOwners, PadsWhatSlicesWouldCut) {
  // Two of 3, 1, 4 and 4 units: those of 4 fill slices, and those of 3 and 1 leave 4 units empty.
  // If slices cut them, all of their 8 units would be exchanged once more.
  const Shares shares = plan(gpt2(2, 64), 4);
  EXPECT_EQ(shares.numGrouped, 8U);
  EXPECT_NEAR(double(shares.stored), 7 * 64 * 64, 1e-6);
  EXPECT_NEAR(shares.most, 7. / 6 * shares.mean, 1e-6 * shares.mean);
  // A group is padded by half of its elements at most: slices of 4 units on eight ranks are not.
  const Shares more = plan(gpt2(1, 64), 8);
  EXPECT_EQ(more.numGrouped, 0U);
}

TEST(PlanOwners, FillsSlicesWithSmallItems) {
  // Two of 3, 1, 4 and 4 units on five ranks: slices of 4 units have the four of 4, and 3 beside 1.
  // The others are cut: 4 and 3 units are most, not 4 and 4.
  const Shares shares = plan(gpt2(2, 64), 5);
  EXPECT_EQ(shares.numGrouped, 6U);
  EXPECT_NEAR(double(shares.stored), 4 * 64 * 64, 1e-6);
  EXPECT_NEAR(shares.most, 7 * 64 * 64 * 64, 1e-6);
}

TEST(PlanOwners, PadsIfMoreIsExchangedAnyway) {
  // Four of 3, 1, 4 and 4 units on seven ranks: in slices of 8 units one rank has 4 + 4, the others
  // at most 4 + 3. In slices of 7 or less one of 4 is cut, and exchanged for as much as the
  // padding.
  const Shares shares = plan(gpt2(4, 64), 7);
  EXPECT_EQ(shares.numGrouped, 16U);
  EXPECT_NEAR(shares.most, 8 * 64 * 64 * 64, 1e-6);
}

TEST(PlanOwners, BoundsBytesAndOperations) {
  for (int layers : {6, 12, 24, 48})
    for (int64_t ranks : {2, 3, 4, 5, 6, 7, 8, 12, 16}) {
      if (layers < ranks)
        continue;
      const Shares shares = plan(gpt2(layers, 64), ranks);
      EXPECT_LE(double(shares.stored), 1.1 * shares.even) << layers << " layers, " << ranks;
      EXPECT_LE(shares.most, 1.15 * shares.mean) << layers << " layers, " << ranks;
    }
}

TEST(PlanOwners, KeepsWhatIsMuchLargerInNoGroup) {
  std::vector<BucketItem> items = gpt2(2, 64);
  items.push_back(matrix(640, 640));
  Owners owners = planOwners(items, {2, kNoLimit, kAlignment});
  EXPECT_EQ(owners.items.back().group, -1);
  EXPECT_EQ(sharesOf(items, owners, 2).numGrouped, 8U);
  EXPECT_TRUE(planOwners(gpt2(1, 64), {1024, kNoLimit, kAlignment}).slices.empty());
}

TEST(PlanOwners, BalancesWhatIsInNoGroup) {
  const Shares shares = plan(gpt2(96, 64), 128, /*limit=*/0);
  EXPECT_EQ(shares.numGrouped, 0U);
  // No rank has more than two of the 384 matrices that all ranks hold parts of.
  EXPECT_LE(shares.most, 1.4 * shares.mean);
}

TEST(PlanOwners, HoldsLimitsAndKinds) {
  std::vector<BucketItem> items = gpt2(6, 64);
  for (size_t index = 0; index < items.size(); index += 3)
    items[index].kind = 1;
  items[5].isOwnable = false;
  items[7].alone = true;
  for (int64_t limit : {1 << 16, 1 << 18, 1 << 20})
    plan(items, 3, limit);
}

/// Items whose updates take less time than their exchange.
static std::vector<BucketItem> cheap(std::vector<BucketItem> items) {
  for (BucketItem &item : items)
    item.operations = 15 * double(item.elements);
  return items;
}

TEST(PlanOwners, ExchangesNoCheapUpdates) {
  std::vector<BucketItem> items = gpt2(2, 64);
  items.push_back(matrix(640, 640));
  items = cheap(std::move(items));
  const Owners owners = planOwners(items, {2, kNoLimit, kAlignment});
  EXPECT_EQ(owners.items.back().rank, -1) << "every rank computes what fits into no slice";
  for (size_t i = 0; i + 1 < items.size(); ++i)
    EXPECT_TRUE(owners.items[i].rank >= 0 && owners.items[i].group >= 0);
  // Two of 3, 1, 4 and 4 units on four ranks: slices of 4 units would leave 4 units empty.
  for (const Owner &owner : planOwners(cheap(gpt2(2, 64)), {4, kNoLimit, kAlignment}).items)
    EXPECT_EQ(owner.rank < 0, owner.group < 0);
}

TEST(PlanOwners, PutsSmallCheapItemsIntoOneGroup) {
  std::vector<BucketItem> items;
  for (int layer = 0; layer < 8; ++layer)
    for (int64_t elements : {64, 192, 64, 64, 256, 64})
      items.push_back(matrix(1, elements));
  items = cheap(std::move(items));
  const Owners owners = planOwners(items, {2, kNoLimit, kAlignment});
  ASSERT_EQ(owners.slices.size(), 1U);
  const Shares shares = sharesOf(items, owners, 2);
  EXPECT_LE(shares.most, 1.05 * shares.mean);
  EXPECT_LE(double(shares.stored), 1.05 * shares.even);
  // Groups of equal items that are large enough are one bucket each.
  EXPECT_EQ(
      planOwners(items, {.ranks = 2, .bytes = kNoLimit, .alignment = kAlignment, .leastBytes = 1})
          .slices.size(),
      24U);
}

TEST(PlanOwners, NoneOnOneRank) {
  for (const Owner &owner : planOwners(gpt2(2, 64), {1, kNoLimit, kAlignment}).items)
    EXPECT_EQ(owner.rank, -1);
}

/// The smallest maximum of operations of all assignments, or -1.
static double best(const std::vector<Job> &jobs, int64_t ranks, int64_t capacity) {
  double least = -1;
  std::vector<size_t> choice(jobs.size(), 0);
  while (true) {
    std::vector<double> operations(size_t(ranks), 0);
    std::vector<int64_t> space(size_t(ranks), capacity);
    for (size_t job = 0; job < jobs.size(); ++job) {
      operations[choice[job]] += jobs[job].operations;
      space[choice[job]] -= jobs[job].elements;
    }
    const double most = *std::max_element(operations.begin(), operations.end());
    if (*std::min_element(space.begin(), space.end()) >= 0 && (least < 0 || most < least))
      least = most;
    size_t digit = 0;
    while (digit < jobs.size() && ++choice[digit] == size_t(ranks))
      choice[digit++] = 0;
    if (digit == jobs.size())
      return least;
  }
}

/// With space for all jobs the longest first is at most 4/3 - 1/3 ranks of the best, and no
/// assignment is below the bound. With less space it holds the capacity.
TEST(AssignJobs, IsNearTheBest) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const int64_t ranks = 2 + random() % 2;
    std::vector<Job> jobs;
    for (int each = random() % 7; each >= 0; --each) {
      const int64_t elements = 1 + random() % 20;
      jobs.push_back({double(elements * (1 + random() % 4)), elements});
    }
    int64_t all = 0;
    for (const Job &job : jobs)
      all += job.elements;
    const auto plan = assignJobs(jobs, ranks, all);
    ASSERT_TRUE(plan);
    const double optimum = best(jobs, ranks, all);
    EXPECT_LE(plan->most, (4.0 / 3 - 1.0 / (3 * double(ranks))) * optimum + 1e-9);
    EXPECT_GE(optimum, leastOperations(jobs, ranks));
    const int64_t capacity = all / ranks + random() % 8;
    if (const auto tight = assignJobs(jobs, ranks, capacity)) {
      EXPECT_GE(tight->most, best(jobs, ranks, capacity));
      std::vector<int64_t> space(size_t(ranks), capacity);
      for (size_t job = 0; job < jobs.size(); ++job)
        EXPECT_GE(space[size_t(tight->ranks[job])] -= jobs[job].elements, 0);
    }
  }
}
