//===- Occupancy.h - occupied bytes over time -------------------*- C++ -*-===//

#ifndef LIB_PLANNING_OCCUPANCY_H
#define LIB_PLANNING_OCCUPANCY_H

#include <cstdint>
#include <utility>
#include <vector>

namespace zero::planning {

/// Disjoint ranges of bytes, in order; ranges that touch are one.
class ByteRanges {
public:
  void add(int64_t begin, int64_t end);
  /// The lowest offset from `offset` on with `bytes` free bytes.
  int64_t lowestFree(int64_t offset, int64_t bytes) const;
  bool empty() const { return ranges.empty(); }
  void clear() { ranges.clear(); }

private:
  std::vector<std::pair<int64_t, int64_t>> ranges;
};

/// The bytes that are allocated in each of a sequence of time slots: a segment tree in which each
/// node stores the ranges that are allocated during all of its slots and those allocated in any of
/// them. Lifetimes that are stacked without gaps are one range, so the lists are short, and a place
/// is found in logarithmic time for any position.
class Occupancy {
public:
  explicit Occupancy(int64_t slots);

  /// The lowest offset at which `bytes` are free in all slots from `first` to `last`.
  int64_t lowestFree(int64_t first, int64_t last, int64_t bytes) const;
  void take(int64_t first, int64_t last, int64_t offset, int64_t bytes);
  void clear();

private:
  struct Node {
    ByteRanges throughout; ///< ranges of lifetimes that span the node but not its parent
    ByteRanges somewhere;  ///< taken in some slot of the node
  };
  void collect(int64_t node, int64_t low, int64_t high, int64_t first, int64_t last) const;
  void take(int64_t node, int64_t low, int64_t high, int64_t first, int64_t last, int64_t offset,
            int64_t end);

  int64_t slots;
  std::vector<Node> nodes;
  mutable std::vector<const ByteRanges *> met; ///< scratch of lowestFree
};

} // namespace zero::planning

#endif // LIB_PLANNING_OCCUPANCY_H
