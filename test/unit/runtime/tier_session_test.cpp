//===- tier_session_test.cpp - sessions that use all tiers ----------------===//

#include "allocations.h"
#include "tier_program.h"
#include "trial.h"

using namespace zero::rt;

namespace {

/// What a step leaves, whatever tier it is in.
struct State {
  std::vector<float> w = std::vector<float>(12), big, part = std::vector<float>(kBig);
  int64_t count = 0;
  bool operator==(const State &) const = default;
};

State stateOf(Trial &trial) {
  State state;
  state.big.resize(kBig * size_t(trial.ranks));
  auto read = [&](const char *name, void *to, size_t bytes) {
    EXPECT_OK(zero_rt_session_read_tensor(trial.session, name, to, bytes));
  };
  read("w", state.w.data(), 48);
  read("big", state.big.data(), state.big.size() * 4);
  read("part", state.part.data(), kBig * 4);
  read("count", &state.count, 8);
  return state;
}

class Tiers : public testing::TestWithParam<std::tuple<int, const char *>> {
protected:
  int ranks() const { return std::get<0>(GetParam()); }
  void begin(Trial &trial) {
    trial.options.nvme_dir = folder.path.c_str();
    trial.options.nvme_io = std::get<1>(GetParam());
    trial.start();
    trial.bind(64);
  }
  TemporaryFolder folder;
};

TEST_P(Tiers, ChangeNoBit) {
  Trial trial(TierProgram(ranks(), 2, true)), plain(TierProgram(ranks(), 2, false));
  begin(trial), begin(plain);
  EXPECT_EQ(stateOf(trial), stateOf(plain));
  for (int step = 0; step < 5; ++step) {
    EXPECT_OK(trial.step());
    EXPECT_OK(plain.step());
    EXPECT_EQ(trial.result.loss, plain.result.loss);
    EXPECT_EQ(stateOf(trial), stateOf(plain)) << step;
  }
}

TEST_P(Tiers, NothingIsLeftBehind) {
  {
    Trial trial(TierProgram(ranks(), 1, true));
    begin(trial);
    EXPECT_OK(trial.step());
    EXPECT_FALSE(folder.isEmpty());
  }
  EXPECT_TRUE(folder.isEmpty());
}

TEST_P(Tiers, BytesOfTheDiskAreThoseOfTheCommands) {
  TierProgram program(ranks(), 2, true);
  Trial trial(program);
  begin(trial);
  for (int step = 0; step < 2; ++step)
    EXPECT_OK(trial.step());
  const uint64_t shard = program.slice * 4;
  for (int rank = 0; rank < ranks(); ++rank) {
    zero_rt_stats stats;
    EXPECT_OK(zero_rt_session_stats(trial.session, rank, &stats));
    EXPECT_EQ(stats.nvme_read, 2 * shard + kBig * 4);
    EXPECT_EQ(stats.nvme_written, shard + kBig * 4);
    EXPECT_EQ(stats.arena_bytes[ZERO_RT_HOST], program.host.end);
    EXPECT_EQ(stats.arena_bytes[ZERO_RT_NVME], program.disk.end);
  }
}

TEST_P(Tiers, AllocateNothingOnceWarm) {
  Trial trial(TierProgram(ranks(), 2, true));
  begin(trial);
  for (int step = 0; step < 2; ++step)
    EXPECT_OK(trial.step());
  AllocationWatch watch;
  for (int step = 0; step < 10; ++step)
    EXPECT_OK(trial.step());
  EXPECT_EQ(watch.largeAllocations(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Queues, Tiers,
                         testing::Combine(testing::Values(1, 2, 4),
                                          testing::Values("auto", "threads")));

} // namespace
