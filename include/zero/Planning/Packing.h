//===- Packing.h - lifetimes to offsets in one arena ------------*- C++ -*-===//

#ifndef ZERO_PLANNING_PACKING_H
#define ZERO_PLANNING_PACKING_H

#include <cstdint>
#include <vector>

namespace zero::planning {

/// Bytes that must be there from command `begin` to command `end`, inclusive.
struct Lifetime {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t bytes = 0;
};

/// Offsets such that lifetimes that meet in time do not meet in space.
struct Packing {
  std::vector<int64_t> offsets; ///< one per lifetime, multiples of the alignment
  int64_t bytes = 0;            ///< size of the arena
  int64_t lowerBound = 0;       ///< largest sum of live aligned bytes: none can be smaller
  int64_t peak = 0;             ///< the first command at which that sum is reached
};

/// Packs by first fit in several orders and keeps the smallest arena. Empty
/// lifetimes get offset 0. O(n^2) in the worst case with a small constant:
/// 10,000 lifetimes take about 0.1 s. Sekiyama et al., arXiv 1804.10001, calls
/// the problem dynamic storage allocation and the heuristic best fit.
Packing pack(const std::vector<Lifetime> &lifetimes, int64_t alignment);

/// Sums of live aligned bytes after each event, as (command, bytes) in order.
std::vector<std::pair<int64_t, int64_t>> liveBytes(const std::vector<Lifetime> &lifetimes,
                                                   int64_t alignment);

/// `bytes` rounded up to a multiple of `alignment`, which is a power of two.
inline int64_t alignUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

} // namespace zero::planning

#endif // ZERO_PLANNING_PACKING_H
