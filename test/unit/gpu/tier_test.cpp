//===- tier_test.cpp - tiers of ranks on a GPU ----------------------------===//
//
// The tests of sessions that use all tiers run here, too. These are about what differs on a GPU:
// lanes of the host beside streams.
//
//===----------------------------------------------------------------------===//

#include "../runtime/parts.h"
#include "../runtime/tier_program.h"
#include "../runtime/trial.h"
#include "recording.h"

#include <chrono>
#include <filesystem>

using namespace zero::rt;

namespace {

/// The losses and weights of some steps.
std::vector<float> train(const TierProgram &program, const std::string &folder, int steps = 4) {
  Trial trial(program);
  trial.options.nvme_dir = folder.c_str();
  trial.start();
  trial.bind(uint64_t(8 * trial.ranks * steps));
  std::vector<float> found;
  for (int step = 0; step < steps; ++step) {
    EXPECT_OK(trial.step());
    found.push_back(float(trial.result.loss));
    const std::vector<float> w = trial.weights();
    found.insert(found.end(), w.begin(), w.end());
  }
  return found;
}

class GpuTiers : public testing::Test {
protected:
  TemporaryFolder folder;
};

TEST_F(GpuTiers, ComputeTheSameInAnyOrder) {
  std::vector<float> expected;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    recording::reset({.seed = seed});
    if (seed == 1)
      expected = train(TierProgram(2, 2, false), folder.path);
    EXPECT_EQ(train(TierProgram(2, 2, true), folder.path), expected) << "seed " << seed;
    EXPECT_EQ(recording::problems(), std::vector<std::string>()) << "seed " << seed;
  }
}

/// Lanes of the host wait for a kernel that does not end, and other ranks for its rank.
TEST_F(GpuTiers, AKernelThatNeverEndsEndsAllRanks) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    recording::reset({.seed = seed, .devices = 2});
    const auto begin = std::chrono::steady_clock::now();
    {
      Trial trial(TierProgram(2, 1, true));
      trial.options.nvme_dir = folder.path.c_str();
      trial.options.gpus = "0,1";
      trial.options.timeout_seconds = 1;
      trial.start();
      trial.bind(16);
      EXPECT_OK(trial.step());
      recording::stall("mean_loss", 1);
      EXPECT_FAILS(trial.step(), ZERO_RT_TIMEOUT, "GPU 1 has finished no work within 1 s");
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    EXPECT_EQ(recording::problems(), std::vector<std::string>());
  }
  recording::reset();
}

/// The memory of the host is pinned, and a step makes nothing.
TEST_F(GpuTiers, PinTheMemoryOfTheHost) {
  TierProgram program(1, 2, true);
  recording::reset();
  Trial trial(program);
  trial.options.nvme_dir = folder.path.c_str();
  trial.start();
  trial.bind(64);
  const recording::Counts started = recording::counts();
  EXPECT_GE(started.hostBytes, program.host.end);
  for (int step = 0; step < 3; ++step)
    EXPECT_OK(trial.step());
  EXPECT_EQ(recording::counts().made, started.made);
  EXPECT_EQ(recording::counts().hostAllocations, started.hostAllocations);
}

/// A tier program whose host updates W where a predicate says so, which the device computes: in
/// the first step it is 0, later it is not.
struct ConditionalProgram : TierProgram {
  explicit ConditionalProgram(bool onTiers) : TierProgram(2, 1, onTiers) {
    const uint64_t place = (program.arenas(0).bytes() + 63) / 64 * 64;
    program.mutable_arenas(0)->set_bytes(place + 64);
    addTensor(program, "wish", proto::OPTIMIZER, proto::I64, {1, 1, place}, {1})
        ->mutable_init()
        ->set_splat(255);
    proto::Buffer &buffer = *program.mutable_buffers()->rbegin();
    buffer.set_value(uint32_t(place + 1));
    proto::Address &wish = *program.add_predicates();
    wish = address(place, 0);
    wish.set_reads(uint32_t(place + 1));
    wish.set_bytes(1);
    int kernel = 5; // increments
    if (onTiers) {  // it is the host's
      *program.add_kernels() = program.kernels(kernel);
      kernel = program.kernels_size() - 1;
    }
    proto::Command count;
    count.set_label("count wishes");
    count.mutable_launch()->set_kernel(uint32_t(kernel));
    proto::Address &counted = *count.mutable_launch()->add_args();
    counted = address(place, 0);
    counted.set_bytes(8);
    counted.set_reads(uint32_t(place + 1));
    counted.set_writes(uint32_t(place + 1));
    *segment(1).add_commands() = count;
    // Before all others.
    for (int i = segment(1).commands_size() - 1; i > 0; --i)
      segment(1).mutable_commands()->SwapElements(i, i - 1);
    for (proto::Command &command : *segment(1).mutable_commands())
      if (command.launch().kernel() == 3 || command.launch().kernel() == 8) // of W and of `big`
        command.set_predicate(1);
  }
};

/// The predicate reaches the threads of lanes.
TEST_F(GpuTiers, LanesOfTheHostSeePredicates) {
  std::vector<float> expected;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    recording::reset({.seed = seed});
    if (seed == 1)
      expected = train(ConditionalProgram(false), folder.path);
    EXPECT_EQ(train(ConditionalProgram(true), folder.path), expected) << "seed " << seed;
  }
  const size_t of = expected.size() / 4;
  const auto weights = [&](size_t step) {
    return std::vector<float>(expected.begin() + long(step * of) + 1,
                              expected.begin() + long((step + 1) * of));
  };
  const std::vector<float> initial = [&] {
    Trial trial(ConditionalProgram(false));
    trial.start();
    return trial.weights();
  }();
  EXPECT_EQ(weights(0), initial) << "the first update is skipped";
  EXPECT_NE(weights(1), initial);
}

TEST_F(GpuTiers, ALaneThatFailsStopsAllRanks) {
  TierProgram program(3, 1, true);
  for (int write : {6, 3})
    program.segment(1).mutable_commands()->DeleteSubrange(write, 1);
  Trial trial(program);
  trial.options.nvme_dir = folder.path.c_str();
  trial.start();
  trial.bind(64);
  EXPECT_OK(trial.step());
  std::filesystem::resize_file(folder.path + "/zero-rank2.nvme", 20000);
  EXPECT_FAILS(trial.step(), ZERO_RT_IO, "rank 2, lane NVME_READ, 'read big': cannot read");
  EXPECT_FAILS(trial.step(), ZERO_RT_ABORTED, "zero-rank2.nvme': the file ends there");
}

/// Lanes of the host wait for streams, which hang.
TEST_F(GpuTiers, EndInTimeWhenTheGpuDoesNot) {
  recording::stall("mean_loss");
  Trial trial(TierProgram(2, 1, true));
  trial.options.nvme_dir = folder.path.c_str();
  trial.options.timeout_seconds = 1;
  trial.start();
  trial.bind(64);
  EXPECT_FAILS(trial.step(), ZERO_RT_TIMEOUT, "1 s");
  recording::release();
}

template <typename Edit>
void refuse(Edit edit, const char *part) {
  TierProgram program(2, 1, true);
  zero_rt_session_options options;
  moveTrial(program, options);
  edit(program);
  expectRefused(program, ZERO_RT_BAD_FILE, part);
}

proto::Command &commandNamed(TierProgram &program, const char *label) {
  for (proto::Segment &segment : *program.program.mutable_segments())
    for (proto::Command &command : *segment.mutable_commands())
      if (command.label() == label)
        return command;
  ADD_FAILURE() << "no command " << label;
  return *program.segment(0).mutable_commands(0);
}

TEST_F(GpuTiers, TablesAreRefusedByName) {
  refuse([](auto &t) { commandNamed(t, "update w").set_lane(proto::COMPUTE); },
         "'update w': code for the CPU on lane COMPUTE, expected HOST_COMPUTE");
  refuse([](auto &t) { commandNamed(t, "kernel 2").set_lane(proto::HOST_COMPUTE); },
         "'kernel 2': expected code for the CPU on lane HOST_COMPUTE, got a kernel of the GPU");
  refuse(
      [](auto &t) {
        auto &launch = *commandNamed(t, "update w").mutable_launch();
        launch.mutable_args(2)->set_tier(proto::DEVICE);
      },
      "'update w': expected operands in the host tier, got one in the device tier");
  refuse(
      [](auto &t) {
        commandNamed(t, "kernel 2").mutable_launch()->mutable_args(0)->set_tier(proto::HOST);
      },
      "'kernel 2': expected operands in the device tier, got one in the host tier");
  refuse(
      [](auto &t) { commandNamed(t, "w to the device").set_lane(proto::D2H); },
      "'w to the device': expected a copy from the host tier to the device tier on lane H2D, got "
      "lane D2H");
  refuse([](auto &t) { commandNamed(t, "lr to the host").set_lane(proto::HOST_COMPUTE); },
         "'lr to the host': expected a copy from the device tier to the host tier on lane D2H, got "
         "lane HOST_COMPUTE");
  refuse([](auto &t) { t.hostCode.clear(); }, "the code section has no symbol 'sgd'");
}

} // namespace
