//===- LaneOrderTest.cpp - the order of accesses to the same bytes --------===//

#include "zero/Planning/LaneOrder.h"

#include "gtest/gtest.h"

#include <random>

using namespace zero::planning;

namespace {

struct Added {
  int lane;
  std::vector<Touch> touches;
  std::vector<uint32_t> waits;
};

bool conflict(const Added &a, const Added &b) {
  for (const Touch &mine : a.touches)
    for (const Touch &other : b.touches)
      if (mine.begin < other.end && other.begin < mine.end && (mine.writes || other.writes))
        return true;
  return false;
}

/// For each command, the earlier commands that are complete when it begins, by definition: those
/// before it on its lane, those that it waits for, and those that were complete before these began.
std::vector<std::vector<bool>> closure(const std::vector<Added> &commands,
                                       size_t leftOut = SIZE_MAX, size_t wait = 0) {
  std::vector<std::vector<bool>> before(commands.size(), std::vector<bool>(commands.size()));
  auto follow = [&](size_t command, size_t earlier) {
    before[command][earlier] = true;
    for (size_t i = 0; i < earlier; ++i)
      before[command][i] = before[command][i] || before[earlier][i];
  };
  for (size_t i = 0; i < commands.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      if (commands[j].lane == commands[i].lane)
        follow(i, j);
    for (size_t w = 0; w < commands[i].waits.size(); ++w)
      if (i != leftOut || w != wait)
        follow(i, commands[i].waits[w]);
  }
  return before;
}

bool isOrdered(const std::vector<Added> &commands, const std::vector<std::vector<bool>> &before) {
  for (size_t i = 0; i < commands.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (conflict(commands[i], commands[j]) && !before[i][j])
        return false;
  return true;
}

std::vector<Added> randomCommands(unsigned seed, int lanes, int count) {
  std::mt19937 random(seed);
  auto pick = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  LaneOrder order(lanes);
  std::vector<Added> commands;
  for (int i = 0; i < count; ++i) {
    Added command{pick(0, lanes - 1), {}, {}};
    for (int t = pick(0, 3); t > 0; --t) {
      int begin = pick(0, 60);
      command.touches.push_back({begin, begin + pick(1, 20), pick(0, 2) == 0});
    }
    command.waits = order.add(command.lane, command.touches);
    commands.push_back(command);
  }
  return commands;
}

} // namespace

TEST(LaneOrder, WaitsForTheWriterAndWritersForReaders) {
  LaneOrder order(3);
  EXPECT_EQ(order.add(0, {{0, 64, true}}), std::vector<uint32_t>{});
  EXPECT_EQ(order.add(1, {{0, 32, false}}), std::vector<uint32_t>{0});
  EXPECT_EQ(order.add(2, {{32, 64, false}}), std::vector<uint32_t>{0});
  EXPECT_EQ(order.add(2, {{64, 96, true}}), std::vector<uint32_t>{});
  EXPECT_EQ(order.add(0, {{16, 48, true}}), (std::vector<uint32_t>{1, 2}));
  // Lane 1 learns through command 4 that command 2 is complete.
  EXPECT_EQ(order.add(1, {{16, 64, true}}), std::vector<uint32_t>{4});
}

TEST(LaneOrder, ReadersOfTheSameBytesDoNotWait) {
  LaneOrder order(2);
  order.add(0, {{0, 8, false}});
  EXPECT_EQ(order.add(1, {{0, 8, false}}), std::vector<uint32_t>{});
}

TEST(LaneOrder, OneLaneNeverWaits) {
  for (const Added &command : randomCommands(1, 1, 100))
    EXPECT_TRUE(command.waits.empty());
}

TEST(LaneOrder, AllConflictsAreOrderedAndNoWaitIsTooMuch) {
  size_t waits = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::vector<Added> commands = randomCommands(seed, 2 + seed % 4, 60);
    ASSERT_TRUE(isOrdered(commands, closure(commands))) << seed;
    for (size_t i = 0; i < commands.size(); ++i)
      for (size_t w = 0; w < commands[i].waits.size(); ++w, ++waits)
        ASSERT_FALSE(isOrdered(commands, closure(commands, i, w))) << seed << ": " << i;
  }
  EXPECT_GT(waits, 500u);
}
