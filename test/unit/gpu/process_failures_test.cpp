//===- process_failures_test.cpp - a process of a GPU that fails ----------===//
//
// Process 1 fails while a kernel of NCCL in process 0 waits for it. Process 0 says in time who has
// failed and of what, and frees its session.
//
//===----------------------------------------------------------------------===//

#include "processes.h"

#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

using namespace zero::rt;

namespace {

class ProcessFailures : public Processes {
protected:
  /// A session after some steps: the first one makes no graphs, the second one does.
  void train(Trial &trial, int steps = 1) {
    adopt(trial);
    trial.options.timeout_seconds = 1;
    trial.start();
    trial.bind(24);
    losses(trial, steps);
  }
  /// Waits until the other process has written `file`.
  void await(const char *file) const {
    while (!fs::exists(folder + file))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

TEST_F(ProcessFailures, OneThatDiesIsFoundInTime) {
  if (isRank()) {
    Trial trial((TinyProgram(kRanks)));
    train(trial);
    if (number() == 1) {
      await("trained"); // process 0 may still be in the step
      ::_exit(0);
    }
    std::ofstream(folder + "trained");
    EXPECT_FAILS(trial.step(), ZERO_RT_ABORTED, "ended unexpectedly");
  }
}

TEST_F(ProcessFailures, OneThatStopsIsNamed) {
  if (isRank()) {
    std::optional<Trial> trial;
    trial.emplace(TinyProgram(kRanks));
    train(*trial);
    if (number() == 1) {
      std::ofstream(folder + "new") << ::getpid();
      fs::rename(folder + "new", folder + "stopped");
      ::raise(SIGSTOP);
      ::_exit(0);
    }
    await("stopped");
    EXPECT_FAILS(trial->step(), ZERO_RT_TIMEOUT, "rank 1 on host '");
    trial.reset();
    ::kill(std::stoi(contents(folder + "stopped")), SIGCONT);
  }
}

TEST_F(ProcessFailures, OneWhoseKernelFaultsIsNamed) {
  if (isRank()) {
    Trial trial((TinyProgram(kRanks)));
    train(trial);
    if (number() == 1)
      recording::fail("mean_loss", 1);
    EXPECT_FAILS(trial.step(), ZERO_RT_INTERNAL, "GPU 1: ");
    Result again(zero_rt_session_step(trial.session, 0, &trial.result));
    EXPECT_NE(again.text.find("process 1 on host '"), std::string::npos) << again.text;
    EXPECT_NE(again.text.find("kernel 'mean_loss' is to fail"), std::string::npos) << again.text;
  }
}

/// Kernels of NCCL that wait for process 1 are in a graph, which goes before the communicator.
TEST_F(ProcessFailures, OneWhoseGraphFaultsIsNamed) {
  if (isRank()) {
    {
      Trial trial((TinyProgram(kRanks)));
      train(trial, 3);
      if (number() == 1)
        recording::fail("mean_loss", 1);
      EXPECT_FAILS(trial.step(), ZERO_RT_INTERNAL, "GPU 1: ");
    }
    EXPECT_EQ(recording::problems(), std::vector<std::string>());
  }
}

/// The kernel of process 1 never ends, and memory cannot be freed beside it.
TEST_F(ProcessFailures, OneWhoseGpuIsStuckIsNamed) {
  if (isRank()) {
    {
      Trial trial((TinyProgram(kRanks)));
      trial.options.gpu_graphs = 0;
      train(trial);
      if (number() == 1)
        recording::stall("mean_loss");
      Result result(trial.step());
      EXPECT_EQ(result.code, ZERO_RT_TIMEOUT);
      EXPECT_NE(result.text.find("GPU 1 has finished no work within 1 s"), std::string::npos);
      EXPECT_EQ(result.text.find("is behind"), std::string::npos) << result.text;
    }
    EXPECT_EQ(recording::problems(), std::vector<std::string>());
    recording::reset();
  }
}

/// In a graph, a GPU that is stuck cannot be told from those that wait for it. All end in time.
TEST_F(ProcessFailures, OneWhoseGraphIsStuckEndsAll) {
  if (isRank()) {
    const auto begin = std::chrono::steady_clock::now();
    {
      Trial trial((TinyProgram(kRanks)));
      train(trial, 3);
      if (number() == 1)
        recording::stall("mean_loss");
      Result result(trial.step());
      EXPECT_EQ(result.code, ZERO_RT_TIMEOUT);
      EXPECT_NE(result.text.find(" has finished no work within 1 s, in a graph: with "
                                 "--gpu-graphs=off an error tells"),
                std::string::npos)
          << result.text;
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    EXPECT_EQ(recording::problems(), std::vector<std::string>());
    recording::reset();
  }
}

} // namespace
