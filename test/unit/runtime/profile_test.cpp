//===- profile_test.cpp - the arithmetic of a profile ---------------------===//

#include "tools/profiling/profile.h"

#include <gtest/gtest.h>

using namespace zero::run;

namespace {

/// A product, a memory-bound operator, and a gather. Times are in nanoseconds.
const std::vector<zero_rt_command_info> kCommands = {
    {ZERO_RT_MATMUL, "k1_gemm", "fc1", 8000, 1000, 1, 0},
    {ZERO_RT_NATIVE, "k2_add", "residual", 100, 3000, 0, 0},
    {ZERO_RT_NATIVE, "k7_add", "other", 0, 1000, 0, 0},
    {ZERO_RT_NATIVE, "k_update", "", 0, 0, 0, 0},
    {ZERO_RT_ALL_GATHER, "all-gather", "bucket0", 0, 500, 0, 0},
    {ZERO_RT_MATMUL, "k1_gemm", "fc1", 8000, 1000, 1, 1},
    {ZERO_RT_ALL_GATHER, "all-gather", "fc1", 0, 300, 0, 0, {}, 0, "tensor"},
    {ZERO_RT_ALL_GATHER, "all-gather", "bucket0", 0, 500, 0, 0, {}, 0, "data"},
};

/// 10 operations and 2 bytes per nanosecond.
const zero_rt_machine kMachine = {10e9, 1e9, 2e9, 40e9};

/// Steps of consecutive events that start at `begin`, with a pause of 10 ns after each.
class Steps {
public:
  struct Event {
    uint32_t command;
    uint64_t took, waited;
  };
  void add(const std::vector<Event> &list) {
    zero_rt_recorded_step step{steps.size() + 5, now, 0, events.size(), list.size()};
    for (const Event &event : list) {
      events.push_back({event.command, 0, now, now + event.took, event.waited});
      now += event.took + 10;
    }
    step.end = now;
    steps.push_back(step);
  }
  zero_rt_recording recording() const { return {steps.data(), steps.size(), events.data(), 1}; }

private:
  uint64_t now = 100;
  std::vector<zero_rt_recorded_step> steps;
  std::vector<zero_rt_event> events;
};

const ProfileRow *find(const std::vector<ProfileRow> &rows, const std::string &name) {
  for (const ProfileRow &row : rows)
    if (row.name == name)
      return &row;
  return nullptr;
}

TEST(Profile, SplitsAStepIntoItsParts) {
  Steps steps;
  steps.add({{4, 300, 100}, {0, 1000, 0}, {1, 2000, 0}, {0, 1000, 0}});
  const Profile profile = makeProfile(kMachine, kCommands, {steps.recording()});
  const Parts &parts = profile.ranks[0];
  EXPECT_NEAR(parts.compute, 4000e-9, 1e-15);
  EXPECT_NEAR(parts.collectives, 200e-9, 1e-15);
  EXPECT_NEAR(parts.waiting, 100e-9, 1e-15);
  EXPECT_NEAR(parts.between, 40e-9, 1e-15);
  EXPECT_NEAR(profile.seconds(), 4340e-9, 1e-15);
  EXPECT_EQ(profile.steps, std::vector<uint64_t>{5});
  EXPECT_EQ(profile.flops(), 16100);
  EXPECT_NEAR(profile.fractionOfPeak(), 16100 / 43400.0, 1e-12);
  double sum = parts.waiting + parts.between;
  for (const ProfileRow &row : profile.kinds)
    sum += row.seconds;
  EXPECT_NEAR(sum, profile.seconds(), 1e-15);
}

TEST(Profile, PutsKernelsUnderTheirRoofline) {
  Steps steps;
  steps.add({{4, 300, 100}, {0, 1000, 0}, {1, 2000, 0}, {0, 3000, 0}, {2, 500, 0}, {3, 1, 0}});
  const Profile profile = makeProfile(kMachine, kCommands, {steps.recording()});
  ASSERT_EQ(profile.kernels.size(), 5u);
  EXPECT_EQ(profile.kernels[0].name, "k1_gemm"); // the longest first
  const ProfileRow &gemm = profile.kernels[0];
  EXPECT_EQ(gemm.kind, "matrix product");
  EXPECT_EQ(gemm.label, "fc1");
  EXPECT_EQ(gemm.launches, 2);
  EXPECT_EQ(gemm.flops, 16000);
  EXPECT_NEAR(gemm.seconds, 4000e-9, 1e-15);
  EXPECT_NEAR(gemm.fractionOfRoofline(), 0.4, 1e-12); // 800 ns each according to its operations
  EXPECT_TRUE(gemm.boundByFlops);
  const ProfileRow &add = *find(profile.kernels, "k2_add");
  // 1500 ns according to the faster of two bandwidths
  EXPECT_NEAR(add.fractionOfRoofline(), 0.75, 1e-12);
  EXPECT_FALSE(add.boundByFlops);
  const ProfileRow &kind = *find(profile.kinds, "add");
  EXPECT_EQ(kind.launches, 2);
  EXPECT_NEAR(kind.fractionOfRoofline(), 0.8, 1e-12); // 2000 of 2500 ns
  EXPECT_EQ(find(profile.kernels, "k_update")->kind, "k_update");
  EXPECT_EQ(profile.reorders, 2);
  const ProfileRow &gather = *find(profile.kinds, "all-gather");
  EXPECT_TRUE(gather.isCollective);
  EXPECT_NEAR(gather.seconds, 200e-9, 1e-15);
  EXPECT_EQ(gather.fractionOfRoofline(), 0);
}

TEST(Profile, TellsAxesApart) {
  Steps steps;
  steps.add({{6, 300, 100}, {7, 1000, 0}, {6, 300, 0}, {4, 10, 0}});
  const Profile profile = makeProfile(kMachine, kCommands, {steps.recording()});
  ASSERT_EQ(profile.kinds.size(), 3u);
  for (const auto &rows : {profile.kinds, profile.kernels}) {
    EXPECT_EQ(rows[0].title(), "all-gather, data");
    EXPECT_EQ(rows[1].title(), "all-gather, tensor");
    EXPECT_EQ(rows[1].launches, 2);
    EXPECT_EQ(rows[1].bytes, 600);
    EXPECT_NEAR(rows[1].seconds, 500e-9, 1e-15);
    EXPECT_EQ(rows[2].title(), "all-gather");
  }
  EXPECT_EQ(profile.receivedAlong(),
            (std::map<std::string, double>{{"data", 500}, {"tensor", 600}}));
}

TEST(Profile, TellsWhatRunsAgain) {
  Steps steps;
  steps.add({{0, 1000, 0}, {1, 2000, 0}, {5, 1200, 0}});
  steps.add({{0, 1000, 0}, {1, 2000, 0}, {5, 1400, 0}});
  const Profile profile = makeProfile(kMachine, kCommands, {steps.recording()});
  const ProfileRow &gemm = *find(profile.kernels, "k1_gemm");
  EXPECT_NEAR(gemm.seconds, 2300e-9, 1e-15);
  EXPECT_NEAR(gemm.recomputed, 1300e-9, 1e-15);
  EXPECT_NEAR(find(profile.kinds, "matrix product")->recomputed, 1300e-9, 1e-15);
  EXPECT_EQ(find(profile.kernels, "k2_add")->recomputed, 0);
  EXPECT_NEAR(profile.recomputed(), 1300e-9, 1e-15);
}

TEST(Profile, TakesTheMiddleHalfOfTheStepsOfTheFirstRank) {
  Steps first, second;
  for (uint64_t took : {9000, 1000, 2000, 3000, 10})
    first.add({{0, took, 0}, {4, 100, 50}});
  for (uint64_t waited : {7000, 100, 200, 300, 7000})
    second.add({{0, 500, 0}, {4, 8000, waited}});
  const Profile profile = makeProfile(kMachine, kCommands, {first.recording(), second.recording()});
  EXPECT_EQ(profile.parts.size(), 5u);
  EXPECT_NEAR(profile.ranks[0].compute, 2000e-9, 1e-15);
  EXPECT_NEAR(profile.ranks[0].waiting, 50e-9, 1e-15);
  EXPECT_NEAR(profile.ranks[1].waiting, 200e-9, 1e-15);
  EXPECT_EQ(profile.kernels[0].launches, 1);
}

} // namespace
