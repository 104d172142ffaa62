//===- SimulationTest.cpp - when the commands of a step run ---------------===//

#include "zero/Planning/Simulation.h"

#include <gtest/gtest.h>

using namespace zero::planning;

namespace {

TimedCommand compute(double seconds, std::vector<size_t> waits = {}) {
  return {0, seconds, false, std::move(waits)};
}

TimedCommand collective(double seconds, std::vector<size_t> waits = {}) {
  return {1, seconds, true, std::move(waits)};
}

TEST(Simulation, LanesThatDoNotOverlapAreOne) {
  Simulation simulation({1}, /*overlaps=*/false);
  simulation.run(compute(2));
  simulation.run(collective(3));
  simulation.run(compute(1));
  EXPECT_DOUBLE_EQ(simulation.slots(0)[2].begin, 5);
  EXPECT_DOUBLE_EQ(simulation.seconds(), 6);
}

TEST(Simulation, LanesOverlapUpToWhatTheyWaitFor) {
  Simulation simulation({1}, /*overlaps=*/true);
  simulation.run(compute(2));
  const size_t gather = simulation.run(collective(3));
  const size_t beside = simulation.run(compute(2));
  const size_t behind = simulation.run(compute(1, {gather}));
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].begin, 0);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[beside].begin, 2);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[behind].begin, 4);
  EXPECT_DOUBLE_EQ(simulation.seconds(), 5);
}

TEST(Simulation, ACollectiveWaitsForTheSlowestRank) {
  Simulation simulation({1, 3}, /*overlaps=*/false);
  simulation.run(compute(2));
  const size_t gather = simulation.run(collective(1));
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].begin, 2);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].waited, 4);
  EXPECT_DOUBLE_EQ(simulation.slots(1)[gather].waited, 0);
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].end, 7);
  EXPECT_DOUBLE_EQ(simulation.seconds(), 7);
}

TEST(Simulation, PartsOfAStepDoNotOverlap) {
  Simulation simulation({1}, /*overlaps=*/true);
  simulation.run(compute(2));
  simulation.join();
  const size_t gather = simulation.run(collective(1)); // a lane that was not there before
  EXPECT_DOUBLE_EQ(simulation.slots(0)[gather].begin, 2);
}

TEST(Simulation, AnEmptyStepTakesNoTime) {
  Simulation simulation({1, 2}, /*overlaps=*/true);
  simulation.join();
  EXPECT_DOUBLE_EQ(simulation.seconds(), 0);
}

} // namespace
