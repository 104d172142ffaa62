//===- simulation_test.cpp - when the commands of a step run --------------===//

#include "runtime/verify/simulation.h"

#include <gtest/gtest.h>

using namespace zero::rt;

namespace {

TimedCommand compute(double seconds, std::vector<size_t> waits = {}) {
  return {0, seconds, TimedCommand::Computes, std::move(waits), {}};
}

TimedCommand collective(double seconds, uint32_t thread = 1) {
  return {thread, seconds, TimedCommand::Collective, {}, {}};
}

/// Beside others, on threads of their own, a command that takes `share` of the drives.
TimedCommand transfer(uint32_t thread, double seconds, double share) {
  TimedCommand command{thread, seconds, TimedCommand::Moves, {}, {}};
  command.shares[size_t(Resource::Drives)] = share;
  return command;
}

TEST(Simulation, ThreadsOverlapUpToWhatTheyWaitFor) {
  Simulation simulation({1});
  simulation.add(compute(2));
  const size_t gather = simulation.add(collective(3));
  const size_t beside = simulation.add(compute(2));
  const size_t behind = simulation.add(compute(1, {gather}));
  simulation.join();
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].begin, 0);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[beside].begin, 2);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[behind].begin, 4);
  EXPECT_DOUBLE_EQ(simulation.seconds(), 5);
  EXPECT_DOUBLE_EQ(simulation.stalled(0), 0);
}

TEST(Simulation, TheOwnThreadStallsForWhatItWaitsForAndWhenThreadsMeet) {
  Simulation simulation({1, 2});
  simulation.add(compute(2));
  const size_t read = simulation.add({4, 5, TimedCommand::Moves, {}, {}});
  const size_t behind = simulation.add(compute(1, {read}));
  simulation.add({4, 3, TimedCommand::Moves, {}, {}});
  simulation.join();
  // the slow rank computes for 4, and transfers as fast as the other
  EXPECT_DOUBLE_EQ(simulation.slots(0)[behind].begin, 5);
  EXPECT_DOUBLE_EQ(simulation.stalled(0), 3 + 2);
  EXPECT_DOUBLE_EQ(simulation.stalled(1), 1 + 1);
  EXPECT_DOUBLE_EQ(simulation.seconds(), 8);
}

TEST(Simulation, ACollectiveWaitsForTheSlowestRank) {
  Simulation simulation({1, 3});
  simulation.add(compute(2));
  const size_t gather = simulation.add(collective(1, 0));
  simulation.join();
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].begin, 2);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].waited, 4);
  EXPECT_DOUBLE_EQ(simulation.slots(1)[gather].waited, 0);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].end, 7);
  EXPECT_DOUBLE_EQ(simulation.seconds(), 7);
}

TEST(Simulation, PartsOfAStepDoNotOverlap) {
  Simulation simulation({1, 2});
  simulation.add(compute(2));
  simulation.join();
  const size_t alone = simulation.add({1, 1, TimedCommand::Moves, {}, {}});
  const size_t gather = simulation.add(collective(1, 2));
  simulation.join();
  EXPECT_DOUBLE_EQ(simulation.slots(0)[alone].begin, 2);
  EXPECT_DOUBLE_EQ(simulation.slots(1)[alone].begin, 4);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].waited, 2);
  EXPECT_DOUBLE_EQ(simulation.seconds(), 5);
}

TEST(Simulation, ThreadsShareAResource) {
  Simulation simulation({1});
  const size_t read = simulation.add(transfer(1, 4, 1));
  const size_t write = simulation.add(transfer(2, 1, 1));
  const size_t other = simulation.add(compute(3));
  simulation.join();
  EXPECT_DOUBLE_EQ(simulation.slots(0)[write].end, 2); // at half its speed
  EXPECT_DOUBLE_EQ(simulation.slots(0)[read].end, 5);  // at half its speed for 2
  EXPECT_DOUBLE_EQ(simulation.slots(0)[other].end, 3); // uses no drive
}

TEST(Simulation, SmallSharesDoNotSlowDown) {
  Simulation simulation({1});
  const size_t read = simulation.add(transfer(1, 4, 0.5));
  const size_t write = simulation.add(transfer(2, 1, 0.5));
  simulation.join();
  EXPECT_DOUBLE_EQ(simulation.slots(0)[read].end, 4);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[write].end, 1);
}

TEST(Simulation, AResourceDoesAtMostItsWork) {
  Simulation simulation({1});
  double work = 0;
  for (uint32_t i = 0; i < 60; ++i) {
    const double seconds = 1 + i * 7 % 5, share = 0.2 * (1 + i % 5);
    work += seconds * share;
    simulation.add(transfer(i % 3, seconds, share));
  }
  simulation.join();
  EXPECT_GE(simulation.seconds(), work);
  EXPECT_LT(simulation.seconds(), 1.3 * work);
}

TEST(Simulation, AnEmptyStepTakesNoTime) {
  Simulation simulation({1, 2});
  simulation.join();
  EXPECT_DOUBLE_EQ(simulation.seconds(), 0);
}

} // namespace
