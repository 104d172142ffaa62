//===- StateTiersTest.cpp - state that is divided over tiers --------------===//

#include "zero/Planning/StateTiers.h"

#include "gtest/gtest.h"

#include <random>

using namespace zero::planning;

namespace {

enum Tier : unsigned { Device, Host, Nvme };

/// Of all ways to divide `states` that fit `room`, the one that is first in the order of tiers of
/// the first state, then of the second ...: by first choosing what is on the device.
std::vector<unsigned> bestOf(const std::vector<BucketState> &states, std::vector<int64_t> room) {
  std::vector<unsigned> best;
  for (const BucketState &state : states)
    best.push_back(state.farthest);
  for (unsigned tier : {Device, Host}) {
    size_t chosen = 0;
    for (size_t set = 0; set < size_t(1) << states.size(); ++set) {
      int64_t bytes = 0;
      bool isAllowed = true;
      for (size_t index = 0; index < states.size(); ++index)
        if (set >> (states.size() - 1 - index) & 1) {
          bytes += states[index].bytes;
          isAllowed &= best[index] == states[index].farthest && tier < best[index];
        }
      if (isAllowed && bytes <= room[tier])
        chosen = std::max(chosen, set);
    }
    for (size_t index = 0; index < states.size(); ++index)
      if (chosen >> (states.size() - 1 - index) & 1)
        best[index] = tier;
  }
  return best;
}

/// Buckets of few bytes: no tier has too little space to go on.
std::vector<BucketState> randomStates(std::mt19937 &random) {
  std::vector<BucketState> states(1 + random() % 8);
  for (BucketState &state : states)
    state = {int64_t(1 + random() % 6), unsigned(random() % 3)};
  return states;
}

} // namespace

TEST(StateTiers, FirstStatesAreNearest) {
  std::mt19937 random(55);
  for (int trial = 0; trial < 400; ++trial) {
    const std::vector<BucketState> states = randomStates(random);
    const std::vector<int64_t> room{int64_t(random() % 15), int64_t(random() % 15)};
    std::vector<int64_t> left = room;
    EXPECT_EQ(divideState(states, left), bestOf(states, room)) << "trial " << trial;
  }
}

TEST(StateTiers, SaysWhatIsLeft) {
  std::vector<int64_t> room{100, 60};
  const auto tiers =
      divideState({{40, Nvme}, {70, Nvme}, {50, Host}, {10, Host}, {60, Nvme}}, room);
  EXPECT_EQ(tiers, (std::vector<unsigned>{Device, Nvme, Device, Device, Host}));
  EXPECT_EQ(room, (std::vector<int64_t>{0, 0}));
}

TEST(StateTiers, LittleSpaceIsNotSearched) {
  std::vector<int64_t> room{1600, 0};
  EXPECT_EQ(divideState({{1501, Host}, {120, Host}, {2, Host}}, room),
            (std::vector<unsigned>{Device, Host, Host}));
  EXPECT_EQ(room[0], 99);
}
