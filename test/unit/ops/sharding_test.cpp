// Shards under another shape, against the elements that they have.

#include "lib/Ops/ShardingViews.h"

#include <gtest/gtest.h>

#include <set>

using namespace zero::ops;
using Shape = llvm::SmallVector<int64_t>;

namespace {

/// The elements of a tensor of `shape` that rank `rank` of `ways` has.
std::set<int64_t> elementsOf(const Shape &shape, const Cut &cut, int64_t ways, int64_t rank) {
  Shape parts = cut.parts.empty() ? Shape{shape[cut.dim]} : Shape(cut.parts);
  int64_t inner = 1, count = 1;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    count *= shape[dim];
    inner *= int64_t(dim) > cut.dim ? shape[dim] : 1;
  }
  std::set<int64_t> elements;
  for (int64_t element = 0; element < count; ++element) {
    int64_t index = element / inner % shape[cut.dim];
    for (int64_t part : parts) {
      if (index < part) {
        if (index / (part / ways) == rank)
          elements.insert(element);
        break;
      }
      index -= part;
    }
  }
  return elements;
}

bool divides(const Shape &shape, const Cut &cut, int64_t ways) {
  for (int64_t part : cut.parts)
    if (part % ways != 0)
      return false;
  return shape[cut.dim] % ways == 0;
}

/// Compares each cut of each shape with its view of each other shape. Returns how many views exist.
int checkViews(const std::vector<Shape> &shapes, int64_t ways) {
  int found = 0;
  for (const Shape &from : shapes)
    for (const Shape &to : shapes)
      for (int64_t dim = 0; dim < int64_t(from.size()); ++dim)
        for (int64_t parts : {1, 3}) {
          Cut cut{dim};
          if (parts > 1 && from[dim] % parts == 0)
            cut.parts.assign(parts, from[dim] / parts);
          if (!divides(from, cut, ways))
            continue;
          std::optional<Cut> view = throughView(from, to, cut, ways);
          if (!view)
            continue;
          ++found;
          for (int64_t rank = 0; rank < ways; ++rank)
            EXPECT_EQ(elementsOf(from, cut, ways, rank), elementsOf(to, *view, ways, rank))
                << "dimension " << dim << " in " << parts << " parts";
        }
  return found;
}

} // namespace

TEST(Sharding, ViewsHaveTheSameElements) {
  const std::vector<Shape> shapes{{4, 8, 36},    {32, 36},       {4, 8, 3, 12},    {4, 8, 3, 4, 3},
                                  {4, 8, 12, 3}, {1, 32, 1, 36}, {4, 1, 8, 3, 12}, {1152},
                                  {32, 3, 4, 3}, {4, 8, 9, 4}};
  EXPECT_GT(checkViews(shapes, 2), 100);
  EXPECT_GT(checkViews(shapes, 4), 50);
}

TEST(Sharding, ViewsOfHeads) {
  // Queries, keys and values of 4 heads of width 3, one behind the other.
  Cut joint{1, {12, 12, 12}};
  EXPECT_EQ(throughView({32, 36}, {4, 8, 3, 4, 3}, joint, 2), (Cut{3}));
  EXPECT_EQ(throughView({4, 8, 3, 4, 3}, {32, 36}, Cut{3}, 2), joint);
  EXPECT_EQ(throughView({4, 8, 12}, {4, 8, 4, 3}, Cut{2}, 4), (Cut{2}));
  // Three ranks would divide a head.
  EXPECT_EQ(throughView({4, 8, 12}, {4, 8, 4, 3}, Cut{2}, 3), std::nullopt);
}
