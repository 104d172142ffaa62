//===- selection_test.cpp - what ranks hold of split tensors --------------===//
//
// Compared with lists that plain loops make.
//
//===----------------------------------------------------------------------===//

#include "runtime/format/collectives.h"
#include "runtime/format/tables.h"

#include <gtest/gtest.h>
#include <random>

using namespace zero::rt;

namespace {

/// The elements of a tensor of `shape` whose indices satisfy isIn(dimension, index).
template <typename IsIn>
std::vector<uint64_t> listOf(const std::vector<uint64_t> &shape, IsIn isIn) {
  uint64_t count = 1;
  for (uint64_t size : shape)
    count *= size;
  std::vector<uint64_t> list;
  for (uint64_t element = 0; element < count; ++element) {
    uint64_t rest = element;
    bool all = true;
    for (size_t dimension = shape.size(); dimension-- > 0; rest /= shape[dimension])
      all &= isIn(dimension, rest % shape[dimension]);
    if (all)
      list.push_back(element);
  }
  return list;
}

void expectSame(const Selection &selection, const std::vector<uint64_t> &list, uint64_t elements) {
  ASSERT_EQ(selection.size(), list.size());
  bool isDense = true;
  for (uint64_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(selection.at(i), list[i]);
    const uint64_t run = selection.runFrom(i);
    ASSERT_GE(run, 1u);
    for (uint64_t next = 0; next < run && i + next < list.size(); ++next)
      EXPECT_EQ(list[i + next], list[i] + next);
    if (i + 1 < list.size())
      isDense &= list[i + 1] == list[i] + 1;
  }
  EXPECT_EQ(selection.isDense(), isDense);
  for (uint64_t index = 0; index <= elements; ++index)
    EXPECT_EQ(selection.before(index),
              uint64_t(std::lower_bound(list.begin(), list.end(), index) - list.begin()));
  EXPECT_EQ(selection.before(UINT64_MAX), list.size());
}

TEST(Selection, IsWhatLoopsFind) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<uint64_t> shape(random() % 5);
    uint64_t elements = 1;
    std::vector<std::vector<bool>> chosen;
    std::vector<Selection::Cut> cuts;
    for (size_t dimension = 0; dimension < shape.size(); ++dimension) {
      elements *= shape[dimension] = 1 + random() % 5;
      std::vector<bool> &in = chosen.emplace_back(shape[dimension], true);
      if (random() % 2)
        continue;
      Selection::Cut &cut = cuts.emplace_back();
      cut.dimension = uint32_t(dimension);
      for (uint64_t index = 0; index < in.size(); ++index)
        if ((in[index] = random() % 3 != 0)) // also intervals that touch
          cut.intervals.push_back({index, 1});
    }
    expectSame(
        Selection(shape, cuts),
        listOf(shape, [&](size_t dimension, uint64_t index) { return chosen[dimension][index]; }),
        elements);
  }
}

/// The number of the share of `index` among `shares` of a dimension that is cut part by part, and
/// its place in this share.
std::pair<uint64_t, uint64_t> shareOf(uint64_t index, std::vector<uint64_t> parts,
                                      uint64_t shares) {
  uint64_t begin = 0, held = 0;
  for (uint64_t part : parts) {
    const uint64_t each = part / shares;
    if (index < begin + part)
      return {(index - begin) / each, held + (index - begin) % each};
    begin += part, held += each;
  }
  ADD_FAILURE();
  return {};
}

/// Splits with and without parts and tiles, along any dimension, over one or two axes in any order.
TEST(Selection, OfASplitTensorIsWhatEachRankHolds) {
  const std::vector<uint64_t> shape{4, 12, 6};
  const Mesh mesh(std::array{2, 3, 2});
  for (uint32_t dimension : {0u, 1u, 2u})
    for (const std::vector<uint32_t> &axes :
         {std::vector<uint32_t>{0}, {1}, {2}, {0, 2}, {1, 2}, {2, 1}})
      for (const std::vector<uint64_t> &parts :
           {std::vector<uint64_t>{}, {2, 2}, {6, 6}, {3, 3}, {4, 8}, {6, 0, 6}})
        for (int tileAxis : {-1, 0, 1, 2}) {
          const auto shares = uint64_t(mesh.shares(axes));
          uint64_t sum = 0;
          bool isEven = shape[dimension] % shares == 0;
          for (uint64_t part : parts)
            sum += part, isEven &= part % shares == 0;
          if (!isEven || (!parts.empty() && sum != shape[dimension]))
            continue;
          proto::Tensor tensor;
          tensor.mutable_shape()->Assign(shape.begin(), shape.end());
          tensor.mutable_split()->set_dimension(dimension);
          tensor.mutable_split()->mutable_axes()->Assign(axes.begin(), axes.end());
          tensor.mutable_split()->mutable_parts()->Assign(parts.begin(), parts.end());
          uint64_t held = tileAxis < 0 ? 0 : shape[size_t(tileAxis)];
          if (tileAxis == int(dimension))
            held /= shares;
          // A tile of one index, then the others.
          const std::vector<uint64_t> extents =
              held > 1 ? std::vector<uint64_t>{1, held - 1} : std::vector<uint64_t>(held, 1);
          for (uint64_t extent : extents) {
            tensor.set_tile_axis(uint32_t(tileAxis));
            tensor.add_tiles()->set_extent(extent);
          }
          proto::Buffer buffer;
          buffer.set_shards(1);
          const auto blocks =
              blocksOf(mesh, tensor, [&](int) { return std::pair(&buffer, uint64_t(0)); });
          const std::vector<uint64_t> cutParts =
              parts.empty() ? std::vector<uint64_t>{shape[dimension]} : parts;
          for (int rank = 0; rank < mesh.ranks(); ++rank)
            for (size_t tile = 0; tile < blocks.size(); ++tile) {
              const uint64_t begin = tile == 0 ? 0 : 1;
              auto isIn = [&](size_t along, uint64_t index) {
                if (along == dimension) {
                  const auto [share, place] = shareOf(index, cutParts, shares);
                  if (share != uint64_t(mesh.share(axes, rank)))
                    return false;
                  index = place;
                }
                return int(along) != tileAxis || (index >= begin && index < begin + extents[tile]);
              };
              expectSame(blocks[tile].elementsOf(rank), listOf(shape, isIn), 4 * 12 * 6);
              EXPECT_EQ(blocks[tile].count, blocks[tile].elementsOf(rank).size());
            }
        }
}

TEST(Mesh, NumbersRanksFromTheOutermostAxis) {
  const Mesh mesh(std::array{2, 3, 2});
  for (int rank = 0; rank < 12; ++rank) {
    EXPECT_EQ(mesh.coordinate(rank, 0), rank / 6);
    EXPECT_EQ(mesh.coordinate(rank, 1), rank / 2 % 3);
    EXPECT_EQ(mesh.coordinate(rank, 2), rank % 2);
    EXPECT_EQ(mesh.share(std::array{2, 0}, rank), rank % 2 * 2 + rank / 6);
  }
  EXPECT_EQ(RankGroup(mesh, 0b101, 9).ranks(), (std::vector<int>{2, 3, 8, 9}));
  EXPECT_EQ(RankGroup(mesh, 0b101, 9).index(), 3);
  EXPECT_EQ(RankGroup(mesh, 0, 7).ranks(), std::vector<int>{7});
  EXPECT_EQ(mesh.groupSize(0b101), 4);
  EXPECT_EQ(Mesh(std::array{1, 3}).proper(kAllAxes), AxisSet(2));
}

proto::Collective collectiveAlong(std::initializer_list<uint32_t> axes) {
  proto::Collective collective;
  for (uint32_t axis : axes)
    collective.add_axes(axis);
  return collective;
}

/// The first axis that a collective lists is the outermost of its slices.
TEST(Mesh, OrdersSlicesByTheAxesOfACollective) {
  const Mesh mesh(std::array{2, 3, 1});
  EXPECT_EQ(sliceNumbers(mesh, collectiveAlong({})), std::vector<int>());
  EXPECT_EQ(sliceNumbers(mesh, collectiveAlong({0, 1})), std::vector<int>());
  EXPECT_EQ(sliceNumbers(mesh, collectiveAlong({1})), std::vector<int>());
  EXPECT_EQ(sliceNumbers(mesh, collectiveAlong({1, 0})), (std::vector<int>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(sliceStrides(mesh, collectiveAlong({}), 8), (PerAxis{24, 8}));
  EXPECT_EQ(sliceStrides(mesh, collectiveAlong({1}), 8), (PerAxis{0, 8}));
  EXPECT_EQ(sliceStrides(mesh, collectiveAlong({1, 2, 0}), 8), (PerAxis{8, 16}));
}

} // namespace
