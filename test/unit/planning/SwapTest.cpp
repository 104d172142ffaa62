//===- SwapTest.cpp - values that leave the device until backward ---------===//

#include "zero/Planning/Swap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

using namespace zero::planning;

namespace {

constexpr int64_t kBytes = 4096; // of each value
constexpr size_t kDevice = size_t(Link::HostToDevice), kRead = size_t(Link::DiskRead);
constexpr double kNever = std::numeric_limits<double>::infinity();

struct Case {
  std::vector<double> seconds; ///< to recompute each value
  SwapLanes lanes;
  SwapRoom room;
};

Case randomCase(std::mt19937 &random) {
  std::uniform_real_distribution<double> uniform(0.1, 2);
  Case made;
  made.seconds.resize(2 + random() % 5);
  for (double &seconds : made.seconds)
    seconds = uniform(random);
  made.lanes.compute = uniform(random) * 4;
  for (size_t link = 0; link < kNumLinks; ++link) {
    made.lanes.busy[link] = uniform(random);
    made.lanes.perByte[link] = uniform(random) * (link >= kRead ? 4 : 2) / kBytes;
  }
  auto room = [&] { return int64_t(random() % (made.seconds.size() + 1)) * kBytes; };
  made.room.host = room();
  made.room.disk = random() % 2 == 0 ? room() : 0;
  return made;
}

/// Drops the cheapest values first.
std::vector<RecomputeChoice> choicesOf(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  std::vector<RecomputeChoice> choices(1, {0, int64_t(seconds.size()) * kBytes});
  for (double each : seconds)
    choices.push_back({choices.back().again + each, choices.back().bytes - kBytes});
  return choices;
}

/// Indexed by the number of values that fit on the device: the minimal seconds over all choices for
/// each value.
std::vector<double> bestOf(const Case &given) {
  const size_t values = given.seconds.size();
  std::vector<double> best(values + 1, kNever);
  enum { Keep, Again, Host, Disk, Fates };
  size_t all = 1;
  for (size_t value = 0; value < values; ++value)
    all *= Fates;
  for (size_t code = 0; code < all; ++code) {
    std::array<int64_t, Fates> counts = {};
    RecomputeChoice choice;
    size_t rest = code;
    for (double seconds : given.seconds) {
      ++counts[rest % Fates];
      choice.again += rest % Fates == Again ? seconds : 0;
      rest /= Fates;
    }
    if (counts[Host] * kBytes > given.room.host || counts[Disk] * kBytes > given.room.disk)
      continue;
    const double seconds =
        swapSeconds(choice, counts[Host] * kBytes, counts[Disk] * kBytes, given.lanes);
    for (size_t room = counts[Keep]; room <= values; ++room)
      best[room] = std::min(best[room], seconds);
  }
  return best;
}

TEST(Swap, TheBusiestLaneCounts) {
  SwapLanes lanes;
  lanes.compute = 3;
  lanes.busy[kDevice] = 1;
  lanes.perByte[kDevice] = 0.5;
  lanes.perByte[kRead] = 2;
  EXPECT_EQ(swapSeconds({1, 8}, 4, 0, lanes), 4);
  EXPECT_EQ(swapSeconds({1, 8}, 8, 0, lanes), 5);
  EXPECT_EQ(swapSeconds({1, 8}, 2, 6, lanes), 12); // a transfer to the disk uses both links
}

TEST(Swap, AsFastAsAnyChoiceForEachRoom) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 300; ++turn) {
    const Case given = randomCase(random);
    const std::vector<RecomputeChoice> choices = choicesOf(given.seconds);
    const std::vector<Swap> swaps = listSwaps(choices, given.lanes, given.room, kBytes);
    const std::vector<double> best = bestOf(given);
    for (size_t room = 0; room < best.size(); ++room) {
      double seconds = kNever;
      for (const Swap &swap : swaps)
        if (choices[swap.choice].bytes - swap.host - swap.disk <= int64_t(room) * kBytes)
          seconds = std::min(seconds, swap.seconds);
      EXPECT_NEAR(seconds, best[room], 1e-9) << "turn " << turn << ", room for " << room;
    }
  }
}

TEST(Swap, EachLeavesLessAndTakesLonger) {
  std::mt19937 random(2);
  const Case given = randomCase(random);
  const std::vector<RecomputeChoice> choices = choicesOf(given.seconds);
  std::vector<Swap> swaps = listSwaps(choices, given.lanes, given.room, kBytes);
  for (size_t i = 1; i < swaps.size(); ++i) {
    auto left = [&](const Swap &swap) {
      return choices[swap.choice].bytes - swap.host - swap.disk;
    };
    EXPECT_GE(swaps[i].seconds, swaps[i - 1].seconds);
    EXPECT_LT(left(swaps[i]), left(swaps[i - 1]));
  }
}

TEST(Swap, NothingLeavesWithoutRoom) {
  for (const Swap &swap : listSwaps({{0, 100}, {1, 50}}, {}, {0, 0}, 10))
    EXPECT_EQ(swap.host + swap.disk, 0);
}

} // namespace
