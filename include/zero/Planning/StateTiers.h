//===- StateTiers.h - divide state over tiers -------------------*- C++ -*-===//

#ifndef ZERO_PLANNING_STATETIERS_H
#define ZERO_PLANNING_STATETIERS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zero::planning {

/// State of one bucket that resides on one tier.
struct BucketState {
  int64_t bytes = 0;
  unsigned farthest = 0; ///< tier on which it is if no nearer one has space; 0 is the nearest
};

/// Returns the tier of each of `states`, of which the first ones count most: as near as the bytes
/// left in `room`, by tier, allow, and at most `farthest`. One that is too large is skipped, until
/// little space remains. What moved is subtracted from `room`.
std::vector<unsigned> divideState(const std::vector<BucketState> &states,
                                  std::vector<int64_t> &room);

} // namespace zero::planning

#endif // ZERO_PLANNING_STATETIERS_H
