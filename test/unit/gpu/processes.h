//===- processes.h - tests in a process for each rank -----------*- C++ -*-===//
//
// Each rank is another process of the test's program. ZERO_TEST_RANK gives its rank.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_GPU_PROCESSES_H
#define TEST_UNIT_GPU_PROCESSES_H

#include "../runtime/trial.h"
#include "recording.h"
#include "zero_rt/processes.h"

#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace fs = std::filesystem;

namespace zero::rt {

constexpr int kRanks = 2, kSteps = 3;

inline const char *ownRank() { return std::getenv("ZERO_TEST_RANK"); }

/// A port with a free one behind it, where the processes meet.
inline int freePort() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  EXPECT_EQ(::bind(listener, reinterpret_cast<sockaddr *>(&address), length), 0);
  ::getsockname(listener, reinterpret_cast<sockaddr *>(&address), &length);
  ::close(listener);
  return ntohs(address.sin_port) - 1;
}

class Processes : public testing::Test {
protected:
  void SetUp() override {
    recording::reset({.devices = 2});
    const char *shared = std::getenv("ZERO_TEST_FOLDER");
    folder =
        shared ? shared : testing::TempDir() + "zero-processes-" + std::to_string(::getpid()) + "/";
    if (!ownRank()) {
      fs::remove_all(folder);
      fs::create_directory(folder);
      ::setenv("MASTER_ADDR", "127.0.0.1", 1);
      ::setenv("MASTER_PORT", std::to_string(freePort()).c_str(), 1);
    }
  }
  void TearDown() override {
    for (zero_rt_world *world : worlds)
      zero_rt_world_close(world);
    if (!ownRank())
      fs::remove_all(folder);
  }

  /// Runs this test in one process per rank. Returns true in the process of a rank.
  bool isRank() const {
    if (ownRank())
      return true;
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::vector<pid_t> children;
    for (int rank = 0; rank < kRanks; ++rank) {
      children.push_back(::fork());
      if (children.back() != 0)
        continue;
      ::setenv("ZERO_TEST_RANK", std::to_string(rank).c_str(), 1);
      ::setenv("ZERO_TEST_FOLDER", folder.c_str(), 1);
      ::setenv("TMPDIR", folder.c_str(), 1); // files that a rank leaves are removed with the folder
      for (const char *variable : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_OUTPUT"})
        ::unsetenv(variable); // a rank is not a shard
      const std::string filter = "--gtest_filter=*." + name;
      ::execl("/proc/self/exe", "/proc/self/exe", filter.c_str(), "--gtest_brief=1", nullptr);
      ::_exit(127);
    }
    for (size_t rank = 0; rank < children.size(); ++rank) {
      int state = -1;
      ::waitpid(children[rank], &state, 0);
      EXPECT_EQ(state, 0) << "rank " << rank;
    }
    return false;
  }

  /// Sets the options of this process's rank.
  void adopt(Trial &trial, const char *file = "id") {
    join = folder + file;
    const std::string meeting = "file:" + join;
    zero_rt_world_options options;
    zero_rt_world_options_default(&options);
    options.process = number();
    options.processes = kRanks;
    options.meeting = meeting.c_str();
    options.timeout_seconds = 30;
    EXPECT_OK(zero_rt_world_open(&options, &worlds.emplace_back()));
    trial.options.world = worlds.back();
    trial.options.gpus = "0,1";
  }
  static int number() { return std::stoi(ownRank()); }

  static std::vector<double> losses(Trial &trial, int steps = kSteps) {
    std::vector<double> found;
    for (int step = 0; step < steps; ++step) {
      EXPECT_OK(trial.step());
      found.push_back(trial.result.loss);
    }
    return found;
  }
  zero_rt_status save(Trial &trial, const std::string &name) const {
    return zero_rt_session_save_state(trial.session, (folder + name).c_str());
  }
  zero_rt_status load(Trial &trial, const std::string &name) const {
    zero_rt_state_result from;
    return zero_rt_session_load_state(trial.session, (folder + name).c_str(), 0, &from);
  }
  static std::string contents(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder, join;
  std::vector<zero_rt_world *> worlds;
};

} // namespace zero::rt

#endif // TEST_UNIT_GPU_PROCESSES_H
