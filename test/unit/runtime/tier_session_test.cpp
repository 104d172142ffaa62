//===- tier_session_test.cpp - sessions that use all tiers ----------------===//

#include "allocations.h"
#include "tier_program.h"
#include "trial.h"

#include <fstream>

using namespace zero::rt;

namespace {

/// The state after a step, from all tiers.
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

/// State that begins at zero needs no write, even if a file of this name has other contents.
TEST_P(Tiers, ZerosAreThereWithoutBeingWritten) {
  auto withZeros = [&](bool onTiers) {
    TierProgram program(ranks(), 1, onTiers);
    for (proto::Tensor &tensor : *program.program.mutable_tensors())
      if (tensor.name() == "big")
        tensor.mutable_init()->set_splat(0);
    return program;
  };
  const TierProgram onTiers = withZeros(true);
  for (int rank = 0; rank < ranks(); ++rank) {
    std::ofstream old(folder.path + "/zero-rank" + std::to_string(rank) + ".nvme");
    old << "ZEROTIER" << std::string(onTiers.disk.end, '!');
  }
  Trial trial(onTiers), plain(withZeros(false));
  begin(trial), begin(plain);
  zero_rt_nvme_info info;
  ASSERT_TRUE(zero_rt_session_nvme(trial.session, &info));
  EXPECT_LT(info.written, kBig * 4);
  EXPECT_EQ(stateOf(trial), stateOf(plain));
  EXPECT_OK(trial.step());
  EXPECT_OK(plain.step());
  EXPECT_EQ(stateOf(trial), stateOf(plain));
}

/// The progress that is reported while a session is created, weights are saved and a checkpoint is
/// written and read.
struct ProgressLog {
  /// the names of pieces of work, once when it begins and once when it is complete
  std::string text;
  uint64_t last = 0, bytes = 0;

  static void hear(void *told, const char *what, uint64_t done, uint64_t total) {
    auto *self = static_cast<ProgressLog *>(told);
    EXPECT_LE(done, total);
    if (done == 0)
      self->text += std::string(what) + "...";
    if (done == total)
      self->text += "done ";
    EXPECT_GE(done, done == 0 ? 0 : self->last);
    self->last = done == total ? 0 : done;
    self->bytes = total;
  }
};

TEST_P(Tiers, LongWorkIsTold) {
  ProgressLog told;
  Trial trial(TierProgram(ranks(), 1, true));
  trial.options.progress = ProgressLog::hear;
  trial.options.progress_context = &told;
  begin(trial);
  EXPECT_EQ(told.text, "memory and initial values...done ");
  EXPECT_GT(told.bytes, uint64_t(ranks()) * 2 * kBig * 4); // big and part, and the arenas
  told.text.clear();
  const std::string states = folder.path + "/states";
  EXPECT_OK(zero_rt_session_save_state(trial.session, states.c_str()));
  EXPECT_EQ(told.text, "checkpoint...done ");
  EXPECT_GT(told.bytes, uint64_t(ranks()) * kBig * 4);
  told.text.clear();
  zero_rt_state_result loaded;
  EXPECT_OK(zero_rt_session_load_state(trial.session, states.c_str(), 0, &loaded));
  EXPECT_EQ(told.text, "checking the checkpoint...done reading the checkpoint...done ");
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
    zero_rt_program_info info;
    EXPECT_OK(zero_rt_executable_info(trial.executable, &info));
    EXPECT_EQ(stats.nvme_read, info.nvme_read);
    EXPECT_EQ(stats.nvme_written, info.nvme_written);
    EXPECT_EQ(stats.arena_bytes[ZERO_RT_HOST], program.host.end);
    EXPECT_EQ(stats.arena_bytes[ZERO_RT_NVME], program.disk.end);
  }
}

TEST_P(Tiers, BlocksOfTheDiskAreCountedFromTheBeginning) {
  TierProgram program(ranks(), 2, true);
  Trial trial(program);
  begin(trial);
  for (int step = 0; step < 2; ++step)
    EXPECT_OK(trial.step());
  // Initial values, of which the last block of w and of big is read first. Then two steps, in which
  // w is read for each micro-batch. The header is written once, and before and after each step.
  zero_rt_nvme_info info;
  ASSERT_TRUE(zero_rt_session_nvme(trial.session, &info));
  EXPECT_EQ(info.read, uint64_t(ranks()) * (2 * 4096 + 2 * (4096 + program.disk.end)));
  EXPECT_EQ(info.written, uint64_t(ranks()) * (5 * 4096 + 3 * program.disk.end));
  State state = stateOf(trial);
  ASSERT_TRUE(zero_rt_session_nvme(trial.session, &info));
  EXPECT_GT(info.read, uint64_t(ranks()) * (2 * 4096 + 3 * program.disk.end));
}

TEST_P(Tiers, AreFollowedByCheckMemory) {
  ONLY_ON_CPU();
  TierProgram program(ranks(), 2, true);
  Trial trial(program), plain(TierProgram(ranks(), 2, false));
  trial.options.check_memory = 1;
  begin(trial), begin(plain);
  for (int step = 0; step < 3; ++step) {
    EXPECT_OK(trial.step());
    EXPECT_OK(plain.step());
    EXPECT_EQ(stateOf(trial), stateOf(plain)) << step;
  }
  zero_rt_stats stats;
  EXPECT_OK(zero_rt_session_stats(trial.session, 0, &stats));
  EXPECT_EQ(stats.measured_peak[ZERO_RT_HOST], program.host.end);
  EXPECT_EQ(stats.measured_peak[ZERO_RT_NVME], program.disk.end);
  const uint64_t big = kBig * 4, shard = program.slice * 4;
  EXPECT_EQ(stats.measured_live[ZERO_RT_HOST], 2 * (big + shard) + 12); // w and its gradient
  EXPECT_EQ(stats.measured_live[ZERO_RT_NVME], big + shard);
  EXPECT_EQ(stats.nvme_read, 2 * shard + big);
}

TEST_P(Tiers, AreSavedAndLoaded) {
  TemporaryFolder checkpoints;
  Trial trial(TierProgram(ranks(), 1, true)), plain(TierProgram(ranks(), 1, false));
  begin(trial), begin(plain);
  EXPECT_OK(trial.step());
  EXPECT_OK(zero_rt_session_save_state(trial.session, checkpoints.path.c_str()));
  EXPECT_OK(trial.step());
  zero_rt_state_result from;
  EXPECT_OK(zero_rt_session_load_state(plain.session, checkpoints.path.c_str(), 0, &from));
  EXPECT_OK(plain.step());
  EXPECT_EQ(stateOf(trial), stateOf(plain));
  EXPECT_OK(zero_rt_session_load_state(trial.session, checkpoints.path.c_str(), 0, &from));
  EXPECT_OK(trial.step());
  EXPECT_EQ(stateOf(trial), stateOf(plain));
}

TEST_P(Tiers, EvaluateWithoutATrace) {
  Trial trial(TierProgram(ranks(), 2, true)), plain(TierProgram(ranks(), 2, false));
  begin(trial), begin(plain);
  for (uint64_t step = 0; step < 3; ++step) {
    zero_rt_step_result got{};
    EXPECT_OK(zero_rt_session_evaluate(trial.session, trial.data, step, &got));
    EXPECT_OK(trial.step());
    EXPECT_OK(plain.step());
    EXPECT_EQ(got.loss, plain.result.loss);
    EXPECT_EQ(stateOf(trial), stateOf(plain));
  }
}

/// Records all commands of all lanes, in the order of each lane.
TEST_P(Tiers, AreRecordedByLane) {
  TierProgram program(ranks(), 2, true);
  Trial trial(program), plain(program);
  begin(trial);
  EXPECT_OK(trial.step());
  EXPECT_OK(zero_rt_session_record(trial.session, 2));
  EXPECT_OK(trial.step());
  EXPECT_OK(trial.step());
  for (int rank = 0; rank < ranks(); ++rank) {
    zero_rt_recording recording;
    EXPECT_OK(zero_rt_session_recording(trial.session, rank, &recording));
    ASSERT_EQ(recording.step_count, 2u);
    const zero_rt_recorded_step &step = recording.steps[1];
    ASSERT_EQ(step.events,
              size_t(2 * program.segment(0).commands_size() + program.segment(1).commands_size()));
    uint64_t now = step.begin;
    std::array<uint64_t, ZERO_RT_LANES> lanes{};
    for (size_t i = 0; i < step.events; ++i) {
      const zero_rt_event &event = recording.events[step.first_event + i];
      zero_rt_command_info info;
      EXPECT_OK(zero_rt_executable_command(trial.executable, event.command, &info));
      EXPECT_GE(event.begin, now);
      EXPECT_GE(event.begin, lanes[info.lane]) << info.label;
      now = event.begin, lanes[info.lane] = event.end;
      EXPECT_LE(event.end, step.end);
      if (info.lane == ZERO_RT_NVME_READ && event.micro_batch == 1)
        EXPECT_EQ(info.bytes, program.slice * 4);
    }
  }
}

/// Seconds are those of the recording, bytes those of the commands. Evaluations do not count.
TEST_P(Tiers, TellWhatLanesDid) {
  ONLY_ON_CPU();
  TierProgram program(ranks(), 2, true);
  Trial trial(program);
  begin(trial);
  EXPECT_OK(zero_rt_session_record(trial.session, 3));
  zero_rt_step_result evaluated;
  for (uint64_t step = 0; step < 3; ++step) {
    EXPECT_OK(trial.step());
    EXPECT_OK(zero_rt_session_evaluate(trial.session, trial.data, step, &evaluated));
  }
  const uint64_t shard = program.slice * 4, big = kBig * 4;
  for (int rank = 0; rank < ranks(); ++rank) {
    zero_rt_stats stats;
    EXPECT_OK(zero_rt_session_stats(trial.session, rank, &stats));
    zero_rt_recording recording;
    EXPECT_OK(zero_rt_session_recording(trial.session, rank, &recording));
    std::array<double, ZERO_RT_LANES> busy{};
    double between = 0;
    for (size_t i = 0; i < recording.step_count; ++i) {
      const zero_rt_recorded_step &step = recording.steps[i];
      uint64_t now = step.begin;
      for (size_t j = step.first_event; j < step.first_event + step.events; ++j) {
        const zero_rt_event &event = recording.events[j];
        zero_rt_command_info info;
        EXPECT_OK(zero_rt_executable_command(trial.executable, event.command, &info));
        busy[info.lane] += double(event.end - event.begin - event.waited) * 1e-9;
        if (info.lane != ZERO_RT_COMPUTE)
          continue;
        between += double(event.begin - now) * 1e-9;
        now = event.end;
      }
      between += double(step.end - now) * 1e-9;
    }
    for (int lane = ZERO_RT_COLLECTIVE; lane < ZERO_RT_LANES; ++lane) {
      EXPECT_GT(stats.lanes[lane].seconds, 0) << lane;
      EXPECT_NEAR(stats.lanes[lane].seconds, busy[size_t(lane)], 1e-6) << lane;
    }
    EXPECT_EQ(stats.lanes[ZERO_RT_COMPUTE].seconds, 0);
    EXPECT_EQ(stats.lanes[ZERO_RT_H2D].bytes, 3 * 2 * shard);
    EXPECT_EQ(stats.lanes[ZERO_RT_D2H].bytes, 3 * (shard + 2 * 4)); // and the learning rate
    EXPECT_EQ(stats.lanes[ZERO_RT_NVME_READ].bytes, 3 * (2 * shard + big));
    EXPECT_EQ(stats.lanes[ZERO_RT_NVME_WRITE].bytes, 3 * (shard + big));
    EXPECT_EQ(stats.lanes[ZERO_RT_HOST_COMPUTE].bytes, 0u);
    EXPECT_GT(stats.stalled, 0); // the epilogue has only commands of lanes
    EXPECT_LE(stats.stalled, between);
  }
}

TEST_P(Tiers, AllocateNothingOnceWarm) {
  Trial trial(TierProgram(ranks(), 2, true));
  begin(trial);
  EXPECT_OK(zero_rt_session_record(trial.session, 5));
  for (int step = 0; step < 2; ++step)
    EXPECT_OK(trial.step());
  AllocationWatch watch;
  for (int step = 0; step < 10; ++step)
    EXPECT_OK(trial.step());
  EXPECT_NO_LARGE_ALLOCATIONS(watch);
}

/// A folder in memory, which does not support O_DIRECT before Linux 6.6.
TEST(TiersInMemory, ChangeNoBit) {
  TemporaryFolder folder("/dev/shm");
  Trial trial(TierProgram(2, 2, true)), plain(TierProgram(2, 2, false));
  trial.options.nvme_dir = folder.path.c_str();
  for (Trial *each : {&trial, &plain}) {
    each->start();
    each->bind(64);
    for (int step = 0; step < 3; ++step)
      EXPECT_OK(each->step());
  }
  EXPECT_EQ(stateOf(trial), stateOf(plain));
  zero_rt_nvme_info info{};
  EXPECT_TRUE(zero_rt_session_nvme(trial.session, &info));
  EXPECT_FALSE(zero_rt_session_nvme(plain.session, &info));
  EXPECT_EQ(zero_rt_session_nvme_file(trial.session, 1), folder.path + "/zero-rank1.nvme");
  EXPECT_EQ(zero_rt_session_nvme_file(trial.session, 2), nullptr);
  EXPECT_EQ(zero_rt_session_nvme_file(plain.session, 0), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Queues, Tiers,
                         testing::Combine(testing::Values(1, 2, 4),
                                          testing::Values("auto", "threads")));

} // namespace
