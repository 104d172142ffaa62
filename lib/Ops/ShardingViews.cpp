//===- ShardingViews.cpp - shards under another shape ---------------------===//

#include "ShardingViews.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace zero::ops {

namespace {
/// Neighbouring dimensions `from` of one shape that hold the elements of dimensions `to` of
/// another.
struct Piece {
  std::pair<int64_t, int64_t> from, to;
};
} // namespace

/// Divides two shapes of the same elements into the smallest pieces.
static SmallVector<Piece> alignShapes(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<Piece> pieces;
  int64_t i = 0, j = 0;
  const int64_t fromRank = from.size(), toRank = to.size();
  while (i < fromRank || j < toRank) {
    Piece piece{{i, i}, {j, j}};
    int64_t left = 1, right = 1;
    do {
      if ((left <= right && i < fromRank) || j >= toRank)
        left *= from[i++];
      else
        right *= to[j++];
    } while (left != right && (i < fromRank || j < toRank));
    while (i < fromRank && from[i] == 1 && piece.from.first != i)
      ++i;
    while (j < toRank && to[j] == 1 && piece.to.first != j)
      ++j;
    piece.from.second = i;
    piece.to.second = j;
    pieces.push_back(piece);
  }
  return pieces;
}

std::optional<Cut> throughView(ArrayRef<int64_t> from, ArrayRef<int64_t> to, const Cut &cut,
                               int64_t ways) {
  for (const Piece &piece : alignShapes(from, to)) {
    if (cut.dim < piece.from.first || cut.dim >= piece.from.second)
      continue;
    int64_t outer = 1;
    for (int64_t dim = piece.from.first; dim < cut.dim; ++dim)
      outer *= from[dim];
    if (!cut.parts.empty()) {
      if (!llvm::all_equal(cut.parts)) {
        const bool isSame =
            piece.from.second - piece.from.first == 1 && piece.to.second - piece.to.first == 1;
        return isSame ? std::optional(Cut{piece.to.first, cut.parts}) : std::nullopt;
      }
      outer *= int64_t(cut.parts.size());
    }
    // The first dimension behind `outer` elements is cut; if it has more of them, in parts.
    int64_t before = 1, dim = piece.to.first;
    while (dim < piece.to.second && before * to[dim] <= outer && before != outer)
      before *= to[dim++];
    while (dim + 1 < piece.to.second && to[dim] == 1)
      ++dim;
    if (dim == piece.to.second || outer % before != 0)
      return std::nullopt;
    const int64_t parts = outer / before;
    if (to[dim] % (parts * ways) != 0)
      return std::nullopt;
    Cut made{dim};
    if (parts > 1)
      made.parts.assign(parts, to[dim] / parts);
    return made;
  }
  return std::nullopt;
}

} // namespace zero::ops
