//===- Packing.h - assign lifetimes to offsets in an arena ------*- C++ -*-===//

#ifndef ZERO_PLANNING_PACKING_H
#define ZERO_PLANNING_PACKING_H

#include <cstdint>
#include <utility>
#include <vector>

namespace zero::planning {

/// Bytes that are live from command `begin` to command `end`, inclusive.
struct Lifetime {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t bytes = 0;
};

/// Offsets such that lifetimes that overlap in time do not overlap in space.
struct Packing {
  std::vector<int64_t> offsets; ///< one per lifetime, multiples of the alignment
  int64_t bytes = 0;            ///< size of the arena
  int64_t lowerBound = 0;       ///< maximum of the sum of live aligned bytes
  int64_t peak = 0;             ///< the first command at which that sum is reached
  bool optimal = false;         ///< whether the size is minimal for these lifetimes
};

/// Packs `lifetimes`; empty ones get offset 0. Lifetimes of the whole step get the lowest offsets.
/// The rest is placed by first fit in several orders, the most contended commands first, until one
/// order meets the lower bound. If none does, the smallest arena of few lifetimes is found by
/// search, and the order of many is improved around the lifetimes with the highest offsets and
/// those below them. Both stop after a fixed number of trials: equal lifetimes get equal offsets on
/// any machine, and n lifetimes take about n log n time. Sekiyama et al., arXiv 1804.10001, call
/// the problem dynamic storage allocation; the order by contention is that of TelaMalloc (Maas et
/// al., ASPLOS 2023), the search that of MiniMalloc (Moffitt, same). The first arena of at most
/// `enough` bytes is returned, which may be larger than without that.
Packing pack(const std::vector<Lifetime> &lifetimes, int64_t alignment, int64_t enough = 0);

/// Bytes of an arena that first fit alone finds, a fifth of the work; the first of at most
/// `enough`.
int64_t firstFitBytes(const std::vector<Lifetime> &lifetimes, int64_t alignment,
                      int64_t enough = 0);

/// Sums of live aligned bytes after each event, as (command, bytes) in order.
std::vector<std::pair<int64_t, int64_t>> liveBytes(const std::vector<Lifetime> &lifetimes,
                                                   int64_t alignment);

/// `bytes` rounded up to a multiple of `alignment`, which is a power of two.
inline int64_t alignUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

} // namespace zero::planning

#endif // ZERO_PLANNING_PACKING_H
