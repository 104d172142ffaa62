//===- failures_test.cpp - a rank that fails on its GPU -------------------===//
//
// Each rank has a GPU. Rank 1 fails while kernels of NCCL on the other GPUs wait for it: the step
// ends in time with its error, and so does the session. Memory cannot be freed beside those
// kernels.
//
//===----------------------------------------------------------------------===//

#include "../runtime/trial.h"
#include "recording.h"

#include <chrono>
#include <optional>

using namespace zero::rt;

namespace {

constexpr int kRanks = 3;
using Clock = std::chrono::steady_clock;

/// In several orders of the work.
class GpuFailures : public testing::TestWithParam<uint64_t> {
protected:
  void SetUp() override {
    recording::reset({.seed = GetParam(), .devices = kRanks});
    trial.emplace(TinyProgram(kRanks));
    trial->options.gpus = "0,1,2";
    trial->options.timeout_seconds = 1;
    trial->start();
    trial->bind(24);
    EXPECT_OK(trial->step());
    begin = Clock::now();
  }
  /// Frees the session.
  void end() {
    trial.reset();
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(20));
  }

  std::optional<Trial> trial;
  Clock::time_point begin;
};

TEST_P(GpuFailures, AnIndexOutOfRange) {
  std::vector<int64_t> labels(24, 3);
  for (size_t row = 0; row < labels.size(); ++row)
    labels[row] = row % 6 / 2 == 1 ? 99 : 3; // two rows for each rank
  const uint64_t rows = labels.size();
  EXPECT_OK(zero_rt_data_bind_memory(trial->data, "label", ZERO_RT_I64, &rows, 1, labels.data()));
  EXPECT_FAILS(trial->step(), ZERO_RT_CHECK_FAILED,
               "rank 1, node 'gather_nodes': index out of range: expected 0 to 9, got 99");
  end();
}

TEST_P(GpuFailures, AKernelThatFaults) {
  recording::fail("mean_loss", 1);
  Result result(trial->step());
  EXPECT_EQ(result.code, ZERO_RT_INTERNAL);
  EXPECT_NE(result.text.find("step 1: GPU 1: "), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("CUDA_ERROR_LAUNCH_FAILED (kernel 'mean_loss' is to fail), by"),
            std::string::npos)
      << result.text;
  end();
}

/// Only the rank that makes no progress is named, not those that wait for it.
TEST_P(GpuFailures, AKernelThatIsLate) {
  recording::stall("mean_loss", 1);
  EXPECT_FAILS(trial->step(), ZERO_RT_TIMEOUT, "step 1: GPU 1 has finished no work within 1 s");
  recording::release();
  end();
  EXPECT_EQ(recording::counts().alive, 0u);
}

/// What is on the GPUs is left there: freeing it would wait for the kernel.
TEST_P(GpuFailures, AKernelThatNeverEnds) {
  recording::stall("mean_loss", 1);
  EXPECT_FAILS(trial->step(), ZERO_RT_TIMEOUT, "step 1: GPU 1 has finished no work within 1 s");
  end();
  EXPECT_EQ(recording::problems(), std::vector<std::string>());
  EXPECT_GT(recording::counts().alive, 0u);
  recording::reset();
}

TEST_P(GpuFailures, ARankThatDoesNotCome) {
  recording::stall("sgd", 1);
  EXPECT_FAILS(trial->step(), ZERO_RT_TIMEOUT, "step 1: GPU 1 has finished no work within 1 s");
  recording::release();
  end();
}

INSTANTIATE_TEST_SUITE_P(Seeds, GpuFailures, testing::Range<uint64_t>(1, 5));

} // namespace
