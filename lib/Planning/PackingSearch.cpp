//===- PackingSearch.cpp - the smallest arena of few lifetimes ------------===//

#include "PackingSearch.h"

#include <algorithm>
#include <numeric>

namespace zero::planning {

namespace {

/// Looks for one layout that ends at `capacity` or below, depth first.
class Search {
public:
  /// `pieces` are tried in their order.
  Search(const std::vector<Piece> &pieces, int64_t capacity, int64_t &nodes)
      : pieces(pieces), capacity(capacity), nodes(nodes), offsets(pieces.size(), 0) {}

  bool run() {
    std::vector<size_t> all(pieces.size());
    std::iota(all.begin(), all.end(), 0);
    return placeAll(all, {0, 0});
  }

  /// The offset of each placed piece, or the lowest offset that placed pieces leave to it.
  std::vector<int64_t> takeOffsets() { return std::move(offsets); }

private:
  /// An offset and an index: pieces are placed in increasing order of these.
  using Rank = std::pair<int64_t, size_t>;

  bool placeAll(std::vector<size_t> open, Rank from);
  bool placePart(const std::vector<size_t> &open, Rank from);
  bool place(size_t piece, const std::vector<size_t> &open);
  bool isHopeless(const std::vector<size_t> &open, int64_t from) const;
  bool hasTwinBefore(size_t piece, const std::vector<size_t> &open) const;

  const std::vector<Piece> &pieces;
  const int64_t capacity;
  int64_t &nodes;
  std::vector<int64_t> offsets;
};

} // namespace

/// Pieces that no piece joins in time are placed apart: none can spoil the others.
bool Search::placeAll(std::vector<size_t> open, Rank from) {
  std::sort(open.begin(), open.end(),
            [&](size_t a, size_t b) { return pieces[a].first < pieces[b].first; });
  for (auto it = open.begin(); it != open.end();) {
    std::vector<size_t> part;
    for (int64_t end = pieces[*it].last; it != open.end() && pieces[*it].first <= end; ++it) {
      part.push_back(*it);
      end = std::max(end, pieces[*it].last);
    }
    std::sort(part.begin(), part.end());
    if (!placePart(part, from))
      return false;
  }
  return true;
}

/// Whether some slot has no space for its open pieces, all of which are above `from`.
bool Search::isHopeless(const std::vector<size_t> &open, int64_t from) const {
  int64_t first = INT64_MAX, last = 0;
  for (size_t piece : open) {
    first = std::min(first, pieces[piece].first);
    last = std::max(last, pieces[piece].last);
  }
  std::vector<int64_t> lowest(last - first + 1, INT64_MAX), bytes(last - first + 1, 0);
  for (size_t piece : open)
    for (int64_t slot = pieces[piece].first; slot <= pieces[piece].last; ++slot) {
      lowest[slot - first] = std::min(lowest[slot - first], std::max(offsets[piece], from));
      bytes[slot - first] += pieces[piece].bytes;
    }
  for (size_t slot = 0; slot < bytes.size(); ++slot)
    if (bytes[slot] > 0 && lowest[slot] + bytes[slot] > capacity)
      return true;
  return false;
}

/// Whether an equal piece comes first, which may as well be placed instead.
bool Search::hasTwinBefore(size_t piece, const std::vector<size_t> &open) const {
  const Piece &own = pieces[piece];
  return std::any_of(open.begin(), std::find(open.begin(), open.end(), piece), [&](size_t other) {
    const Piece &twin = pieces[other];
    return twin.first == own.first && twin.last == own.last && twin.bytes == own.bytes;
  });
}

bool Search::placePart(const std::vector<size_t> &open, Rank from) {
  if (--nodes <= 0 || isHopeless(open, from.first))
    return false;
  // A start above this would leave space for another piece below.
  int64_t horizon = INT64_MAX;
  for (size_t piece : open)
    horizon = std::min(horizon, offsets[piece] + pieces[piece].bytes);
  for (size_t piece : open)
    if (offsets[piece] < horizon && Rank(offsets[piece], piece) >= from &&
        !hasTwinBefore(piece, open) && place(piece, open))
      return true;
  return false;
}

/// Fixes `piece` at its offset and raises the pieces that overlap it.
bool Search::place(size_t piece, const std::vector<size_t> &open) {
  const int64_t offset = offsets[piece], end = offset + pieces[piece].bytes;
  std::vector<size_t> rest;
  std::vector<int64_t> before;
  bool fits = true;
  for (size_t other : open) {
    if (other == piece)
      continue;
    rest.push_back(other);
    before.push_back(offsets[other]);
    if (offsets[other] < end && pieces[other].meets(pieces[piece])) {
      offsets[other] = end;
      fits &= end + pieces[other].bytes <= capacity;
    }
  }
  if (fits && placeAll(rest, {offset, piece}))
    return true;
  for (size_t i = 0; i < rest.size(); ++i)
    offsets[rest[i]] = before[i];
  return false;
}

bool searchLower(const std::vector<Piece> &pieces, const std::vector<size_t> &order, int64_t bound,
                 Layout &best, int64_t &nodes) {
  std::vector<Piece> ordered;
  ordered.reserve(order.size());
  for (size_t index : order)
    ordered.push_back(pieces[index]);
  while (best.top > bound) {
    Search search(ordered, best.top - 1, nodes);
    if (!search.run())
      return nodes > 0;
    std::vector<int64_t> offsets = search.takeOffsets();
    best.top = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      best.offsets[order[i]] = offsets[i];
      best.top = std::max(best.top, offsets[i] + ordered[i].bytes);
    }
  }
  return true;
}

} // namespace zero::planning
