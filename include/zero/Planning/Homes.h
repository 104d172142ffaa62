//===- Homes.h - place the states that owners have whole --------*- C++ -*-===//

#ifndef ZERO_PLANNING_HOMES_H
#define ZERO_PLANNING_HOMES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zero::planning {

/// A state that the rank that owns an item has all of.
struct WholeState {
  int64_t rank = 0;
  int64_t group = -1; ///< that of its item
  int64_t elements = 0;
  size_t matrix = 0; ///< the number of its item
};

/// Where a state is.
struct Home {
  size_t number = 0;
  int64_t start = 0; ///< elements, in the slice of its rank
};

/// Buffers of which each rank has a slice of the same size.
struct Homes {
  std::vector<Home> states;    ///< of each state
  std::vector<int64_t> slices; ///< elements of a slice of each home
};

/// Gives states homes, of states of one group. A home has one state of each rank, which is written
/// without a copy, or, if this takes fewer elements, as many states of a rank as have no more
/// elements than the largest state of the group: so much a rank reads and writes at a time. States
/// of equal items in a group have equal places.
Homes planHomes(const std::vector<WholeState> &states, int64_t alignment);

} // namespace zero::planning

#endif // ZERO_PLANNING_HOMES_H
