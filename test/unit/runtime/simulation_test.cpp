//===- simulation_test.cpp - when the commands of a step run --------------===//

#include "runtime/verify/simulation.h"

#include <gtest/gtest.h>

using namespace zero::rt;

namespace {

TimedCommand compute(double seconds, std::vector<size_t> waits = {}) {
  return {0, seconds, TimedCommand::Computes, std::move(waits)};
}

TimedCommand collective(double seconds, uint32_t thread = 1) {
  return {thread, seconds, TimedCommand::Collective, {}};
}

TEST(Simulation, ThreadsOverlapUpToWhatTheyWaitFor) {
  Simulation simulation({1});
  simulation.run(compute(2));
  const size_t gather = simulation.run(collective(3));
  const size_t beside = simulation.run(compute(2));
  const size_t behind = simulation.run(compute(1, {gather}));
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].begin, 0);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[beside].begin, 2);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[behind].begin, 4);
  EXPECT_DOUBLE_EQ(simulation.seconds(), 5);
  EXPECT_DOUBLE_EQ(simulation.stalled(0), 0);
}

TEST(Simulation, TheOwnThreadStallsForWhatItWaitsForAndWhenThreadsMeet) {
  Simulation simulation({1, 2});
  simulation.run(compute(2));
  const size_t read = simulation.run({4, 5, TimedCommand::Moves, {}});
  simulation.run(compute(1, {read}));
  simulation.run({4, 3, TimedCommand::Moves, {}});
  EXPECT_DOUBLE_EQ(simulation.stalled(0), 3);
  // it computes for 4 and transfers as fast as the others
  EXPECT_DOUBLE_EQ(simulation.stalled(1), 1);
  simulation.join();
  EXPECT_DOUBLE_EQ(simulation.stalled(0), 5);
  EXPECT_DOUBLE_EQ(simulation.stalled(1), 2);
  EXPECT_DOUBLE_EQ(simulation.seconds(), 8);
}

TEST(Simulation, ACollectiveWaitsForTheSlowestRank) {
  Simulation simulation({1, 3});
  simulation.run(compute(2));
  const size_t gather = simulation.run(collective(1, 0));
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].begin, 2);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].waited, 4);
  EXPECT_DOUBLE_EQ(simulation.slots(1)[gather].waited, 0);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].end, 7);
  EXPECT_DOUBLE_EQ(simulation.seconds(), 7);
}

TEST(Simulation, PartsOfAStepDoNotOverlap) {
  Simulation simulation({1});
  simulation.run(compute(2));
  simulation.join();
  const size_t gather = simulation.run(collective(1)); // a lane that no earlier command uses
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].begin, 2);
}

TEST(Simulation, AnEmptyStepTakesNoTime) {
  Simulation simulation({1, 2});
  simulation.join();
  EXPECT_DOUBLE_EQ(simulation.seconds(), 0);
}

} // namespace
