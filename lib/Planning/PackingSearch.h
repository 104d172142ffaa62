//===- PackingSearch.h - the smallest arena of few lifetimes ----*- C++ -*-===//

#ifndef LIB_PLANNING_PACKINGSEARCH_H
#define LIB_PLANNING_PACKINGSEARCH_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zero::planning {

/// Bytes that are taken in a row of slots of time, from `first` to `last`.
struct Piece {
  int64_t first;
  int64_t last;
  int64_t bytes;

  int64_t length() const { return last - first + 1; }
  bool meets(const Piece &other) const { return first <= other.last && other.first <= last; }
};

/// The offset of each piece, and the end of the highest.
struct Layout {
  std::vector<int64_t> offsets;
  int64_t top = 0;
};

/// Searches for layouts lower than `best`, down to `bound`, and stores the lowest in `best`. Tries
/// pieces in the given order and decrements `nodes`. Returns whether `best` is now proven to be
/// minimal, or ends at `bound`.
///
/// Moffitt, MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning,
/// ASPLOS 2023. Every minimal layout can be pushed down until each piece is at offset 0 or directly
/// above another piece. It is therefore sufficient to place pieces in increasing order of offset,
/// each where it cannot move down.
bool searchLower(const std::vector<Piece> &pieces, const std::vector<size_t> &order, int64_t bound,
                 Layout &best, int64_t &nodes);

} // namespace zero::planning

#endif // LIB_PLANNING_PACKINGSEARCH_H
