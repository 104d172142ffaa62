//===- RematGreedy.h - choose values to save one by one ---------*- C++ -*-===//

#ifndef LIB_PLANNING_REMATGREEDY_H
#define LIB_PLANNING_REMATGREEDY_H

#include "RematMoves.h"

namespace zero::planning {

/// State that the searches for plans of one step share.
struct RematSearch {
  explicit RematSearch(const RematProblem &problem) : step(problem), player(step), moves(step) {}

  /// Simulates a candidate plan.
  RematCost costOf(const Kept &kept) {
    const RematCost cost = player.play(kept).cost;
    if (smallest.empty() || cost.peak < leastPeak) {
      leastPeak = cost.peak;
      smallest = kept;
    }
    return cost;
  }

  Step step;
  Player player;
  LayerMoves moves;
  int64_t leastPeak = 0; ///< of all that may be a plan
  Kept smallest;
};

/// See keepGreedily in Remat.h.
Kept keepGreedily(RematSearch &search, const Kept &kept, int64_t budget);

} // namespace zero::planning

#endif // LIB_PLANNING_REMATGREEDY_H
