//===- packing_test.cpp - documents that share rows -----------------------===//

#include "runtime/io/packing.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace zero::rt;

namespace {

using Rows = std::vector<std::vector<uint64_t>>;

Rows pack(const std::vector<uint64_t> &lengths, uint64_t width, uint64_t window = 100) {
  const PackedRows packed =
      packDocuments(lengths.size(), [&](uint64_t i) { return lengths[i]; }, width, window);
  Rows rows;
  for (uint64_t row = 0; row < packed.size(); ++row)
    rows.emplace_back(packed.documents.begin() + long(packed.begins[row]),
                      packed.documents.begin() + long(packed.begins[row + 1]));
  return rows;
}

/// The fewest rows that hold `lengths` from `next` on, by trying every row for each.
size_t fewestRows(const std::vector<uint64_t> &lengths, uint64_t width, size_t next,
                  std::vector<uint64_t> &spaces) {
  if (next == lengths.size())
    return spaces.size();
  size_t fewest = lengths.size();
  for (size_t row = 0; row < spaces.size(); ++row)
    if (spaces[row] >= lengths[next]) {
      spaces[row] -= lengths[next];
      fewest = std::min(fewest, fewestRows(lengths, width, next + 1, spaces));
      spaces[row] += lengths[next];
    }
  spaces.push_back(width - lengths[next]);
  fewest = std::min(fewest, fewestRows(lengths, width, next + 1, spaces));
  spaces.pop_back();
  return fewest;
}

TEST(Packing, EachDocumentGoesWhereTheLeastSpaceIsLeft) {
  EXPECT_EQ(pack({5, 6, 4, 3, 2}, 10), (Rows{{1, 2}, {0, 3, 4}}));
}

TEST(Packing, LongDocumentsFillARowAlone) {
  EXPECT_EQ(pack({12, 1, 10, 11}, 10), (Rows{{0}, {2}, {3}, {1}}));
}

TEST(Packing, EmptyDocumentsTakeNoSpace) { EXPECT_EQ(pack({0, 10, 0}, 10), (Rows{{1, 0, 2}})); }

TEST(Packing, NothingHasNoRows) { EXPECT_EQ(pack({}, 10), Rows{}); }

TEST(Packing, WindowsShareNoRows) { EXPECT_EQ(pack({4, 4, 2, 2}, 10, 2), (Rows{{0, 1}, {2, 3}})); }

TEST(Packing, ComesCloseToTheFewestRows) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<uint64_t> lengths(2 + random() % 7), spaces;
    for (uint64_t &length : lengths)
      length = 1 + random() % 20;
    const Rows rows = pack(lengths, 20);
    std::vector<int> seen(lengths.size());
    for (const std::vector<uint64_t> &row : rows) {
      uint64_t sum = 0;
      for (uint64_t document : row)
        sum += lengths[document], ++seen[document];
      EXPECT_LE(sum, 20u);
    }
    EXPECT_TRUE(std::ranges::all_of(seen, [](int count) { return count == 1; }));
    EXPECT_LE(rows.size(), fewestRows(lengths, 20, 0, spaces) * 11 / 9 + 1);
  }
}

TEST(Packing, FillsRowsOfShortDocuments) {
  std::mt19937 random(2);
  std::vector<uint64_t> lengths(20'000);
  uint64_t sum = 0;
  for (uint64_t &length : lengths)
    sum += length = 1 + random() % 512;
  const Rows rows = pack(lengths, 1024, 10'000);
  EXPECT_GT(double(sum), 0.99 * 1024 * double(rows.size()));
}

} // namespace
