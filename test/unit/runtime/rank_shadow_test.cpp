//===- rank_shadow_test.cpp - what each byte of all ranks contains --------===//

#include "runtime/verify/rank_shadow.h"

#include <gtest/gtest.h>
#include <random>

using namespace zero::rt;

namespace {

constexpr int kRanks = 4;
constexpr uint64_t kBytes = 96;

Content written(uint32_t value, uint64_t origin = 0) { return {value, origin, value, true}; }

/// The values that `range` may have on some rank: "7 9", or "-" if no rank wrote it.
std::string seen(const RankShadow &shadow, RankRange range) {
  std::string text;
  shadow.forEach(range, [&](ByteRange, const Content &content) {
    text += (text.empty() ? "" : " ") + (content.live ? std::to_string(content.value) : "-");
  });
  return text;
}

TEST(RankShadow, FollowsSlicesOfABucket) {
  RankShadow shadow(kBytes, Mesh::line(kRanks));
  shadow.write(ByteRange{0, 32}, written(1)); // a bucket
  EXPECT_EQ(seen(shadow, {{0, 8}, {8}}), "1");
  shadow.write({{0, 8}, {8}}, written(2)); // each rank changes its slice
  EXPECT_EQ(seen(shadow, {{0, 8}, {8}}), "2");
  EXPECT_EQ(seen(shadow, ByteRange{0, 32}), "1 2");
  shadow.write(ByteRange{24, 26}, written(3)); // in the last rank's slice
  EXPECT_EQ(seen(shadow, {{0, 2}, {8}}), "2 3");
  EXPECT_EQ(seen(shadow, {{2, 8}, {8}}), "2 3"); // bytes between slices also count
  EXPECT_EQ(seen(shadow, ByteRange{24, 26}), "3");
  shadow.write(ByteRange{0, 32}, written(4)); // gathered
  EXPECT_EQ(seen(shadow, {{0, 8}, {8}}), "4");
  EXPECT_EQ(seen(shadow, ByteRange{0, 32}), "4");
}

TEST(RankShadow, IsSameOnlyIfItStaysSo) {
  RankShadow one(kBytes, Mesh::line(kRanks)), other(kBytes, Mesh::line(kRanks));
  one.write(ByteRange{0, 32}, written(1));
  one.write({{0, 8}, {8}}, written(2));
  other.write({{0, 8}, {8}}, written(2));
  EXPECT_FALSE(one.isSame(other));
  other.write(ByteRange{0, 16}, written(1));
  other.write(ByteRange{16, 32}, written(1));
  EXPECT_FALSE(one.isSame(other)); // the bucket was written over the slices
  other.write({{0, 8}, {8}}, written(2));
  EXPECT_TRUE(one.isSame(other));
}

/// What a Shadow of a single rank contains is among what RankShadow sees.
void seesWhatAnyRankHas(const Mesh &mesh, const std::vector<PerAxis> &strides) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    RankShadow all(kBytes, mesh);
    std::vector<Shadow> each(size_t(mesh.ranks()), Shadow(kBytes));
    for (int step = 0; step < 20; ++step) {
      const PerAxis &stride = strides[random() % strides.size()];
      const uint64_t begin = 16 + random() % 40, end = begin + 1 + random() % 16;
      const auto value = uint32_t(1 + random() % 4), to = uint32_t(5 + random() % 4);
      const uint64_t operation = random() % 4;
      auto change = [&](auto &shadow, RankRange range) {
        if (operation < 2)
          shadow.write(range, written(to, step));
        else
          shadow.rename(range, operation == 2 ? 0 : value + 4 * (step % 2), value, step);
      };
      change(all, {{begin, end}, stride});
      for (int rank = 0; rank < mesh.ranks(); ++rank) {
        const auto shift = uint64_t(mesh.shift(stride, rank));
        change(each[size_t(rank)], ByteRange{begin + shift, end + shift});
      }
      for (const PerAxis &asked : strides)
        for (uint64_t byte = 12; byte < 60; ++byte)
          for (int rank = 0; rank < mesh.ranks(); ++rank) {
            const uint64_t at = byte + uint64_t(mesh.shift(asked, rank));
            bool found = false;
            each[size_t(rank)].forEach({at, at + 1}, [&](ByteRange, const Content &own) {
              all.forEach({{byte, byte + 1}, asked}, [&](ByteRange, const Content &content) {
                found |= content.isSame(own) || content.value == UINT32_MAX; // unknown
              });
            });
            ASSERT_TRUE(found) << trial << ", step " << step << ": byte " << byte << ", stride "
                               << asked[0] << ", " << asked[1] << ", rank " << rank;
          }
    }
  }
}

TEST(RankShadow, SeesWhatAnyRankHas) {
  seesWhatAnyRankHas(Mesh::line(kRanks), {{}, {}, {}, {4}, {8}, {-4}});
}

TEST(RankShadow, SeesWhatAnyRankOfTwoAxesHas) {
  seesWhatAnyRankHas(Mesh(std::array{2, 3}), {{}, {}, {}, {12, 4}, {12}, {0, 4}, {4, -4}});
}

} // namespace
