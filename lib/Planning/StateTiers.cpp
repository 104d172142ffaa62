//===- StateTiers.cpp - divide state over tiers ---------------------------===//

#include "zero/Planning/StateTiers.h"

namespace zero::planning {

/// Less than this part of the space of a tier is not searched for a smaller state.
static constexpr int64_t kLittle = 16;

std::vector<unsigned> divideState(const std::vector<BucketState> &states,
                                  std::vector<int64_t> &room) {
  std::vector<unsigned> tiers;
  for (const BucketState &state : states)
    tiers.push_back(state.farthest);
  for (unsigned tier = 0; tier < room.size(); ++tier) {
    const int64_t little = room[tier] / kLittle;
    for (std::size_t index = 0; index < states.size(); ++index) {
      if (tiers[index] <= tier || tiers[index] < states[index].farthest)
        continue;
      if (states[index].bytes <= room[tier]) {
        tiers[index] = tier;
        room[tier] -= states[index].bytes;
      } else if (room[tier] < little) {
        break;
      }
    }
  }
  return tiers;
}

} // namespace zero::planning
