//===- tier_faults_test.cpp - faults of tiers -----------------------------===//

#include "parts.h"
#include "runtime/io/tier_file.h"
#include "tier_program.h"
#include "trial.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>

using namespace zero::rt;

namespace {

class TierFaults : public testing::Test {
protected:
  std::string file(int rank) const {
    return folder.path + "/zero-rank" + std::to_string(rank) + ".nvme";
  }
  void begin(Trial &trial) {
    trial.options.nvme_dir = folder.path.c_str();
    trial.start();
    trial.bind(64);
  }
  void expectNoSession(Trial &trial, zero_rt_code code, const std::string &part) {
    EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session), code,
                 part);
    EXPECT_EQ(trial.session, nullptr);
  }
  TemporaryFolder folder;
};

TEST_F(TierFaults, NoFolder) {
  Trial trial(TierProgram(2, 1, true));
  expectNoSession(trial, ZERO_RT_INVALID_ARGUMENT,
                  "stores 1204224 bytes of each rank on disk: expected a directory for them "
                  "(--nvme-dir)");
  const std::string missing = folder.path + "/none";
  trial.options.nvme_dir = missing.c_str();
  expectNoSession(trial, ZERO_RT_IO, "/none/zero-rank0.nvme': No such file or directory");
}

TEST_F(TierFaults, NoSuchQueue) {
  Trial trial(TierProgram(1, 1, true));
  trial.options.nvme_dir = folder.path.c_str();
  trial.options.nvme_io = "rings";
  expectNoSession(trial, ZERO_RT_INVALID_ARGUMENT,
                  "expected 'auto', 'io_uring' or 'threads' for the nvme tier, got 'rings'");
}

TEST_F(TierFaults, FullDisk) {
  TierProgram program(2, 1, true);
  program.program.mutable_arenas(2)->set_bytes(uint64_t(1) << 45);
  Trial trial(program);
  trial.options.nvme_dir = folder.path.c_str();
  expectNoSession(trial, ZERO_RT_IO, "needs 35184372092928 bytes, its disk has ");
  EXPECT_TRUE(folder.isEmpty());
}

/// Runs `body` in a separate process. Returns whether its expectations held.
template <typename Body>
bool inProcess(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(testing::Test::HasFailure());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(TierFaults, ForbiddenFolder) {
  ASSERT_EQ(::chmod(folder.path.c_str(), 0500), 0);
  Trial trial(TierProgram(1, 1, true));
  trial.options.nvme_dir = folder.path.c_str();
  EXPECT_TRUE(inProcess([&] {
    if (::geteuid() == 0)
      ASSERT_EQ(::seteuid(65534), 0); // the folder still belongs to another user
    expectNoSession(trial, ZERO_RT_IO, "zero-rank0.nvme': Permission denied");
  }));
}

TEST_F(TierFaults, SomebodyElsesFile) {
  std::ofstream(file(1)) << "a letter";
  Trial trial(TierProgram(2, 1, true));
  trial.options.nvme_dir = folder.path.c_str();
  expectNoSession(trial, ZERO_RT_BAD_FILE, "exists and is no tier file: it is not overwritten");
  EXPECT_FALSE(std::filesystem::exists(file(0)));
  EXPECT_EQ(std::filesystem::file_size(file(1)), 8u);
}

TEST_F(TierFaults, FileInUse) {
  Trial first(TierProgram(1, 1, true)), second(TierProgram(1, 1, true));
  begin(first);
  second.options.nvme_dir = folder.path.c_str();
  expectNoSession(second, ZERO_RT_IO, "zero-rank0.nvme' is in use by another process");
  EXPECT_OK(first.step());
}

TEST_F(TierFaults, FileThatIsCutShortBetweenSteps) {
  Trial trial(TierProgram(2, 1, true));
  begin(trial);
  EXPECT_OK(trial.step());
  std::filesystem::resize_file(file(1), 20000);
  EXPECT_FAILS(trial.step(), ZERO_RT_IO,
               "zero-rank1.nvme': expected 1208320 bytes, got 20000: it was changed");
  EXPECT_FAILS(trial.step(), ZERO_RT_ABORTED, "the session has ended");
}

/// The arena of 1204224 bytes has three stripes; the first ones of ranks are on different drives.
TEST_F(TierFaults, TheDriveThatFailsIsNamed) {
  const std::string a = folder.path + "/a", b = folder.path + "/b", list = a + "," + b;
  std::filesystem::create_directory(a);
  std::filesystem::create_directory(b);
  {
    Trial trial(TierProgram(2, 1, true));
    trial.options.nvme_dir = list.c_str();
    trial.start();
    trial.bind(64);
    EXPECT_OK(trial.step());
    EXPECT_EQ(std::filesystem::file_size(a + "/zero-rank0.nvme"), 4096u + 524288 + 155648);
    EXPECT_EQ(std::filesystem::file_size(b + "/zero-rank0.nvme"), 4096u + 524288);
    EXPECT_EQ(std::filesystem::file_size(b + "/zero-rank1.nvme"), 4096u + 524288 + 155648);
    std::filesystem::resize_file(b + "/zero-rank0.nvme", 20000);
    EXPECT_FAILS(trial.step(), ZERO_RT_IO,
                 "/b/zero-rank0.nvme': expected 528384 bytes, got 20000: it was changed");
  }
  EXPECT_TRUE(std::filesystem::is_empty(a));
  EXPECT_TRUE(std::filesystem::is_empty(b));
  std::ofstream(b + "/zero-rank1.nvme") << "a letter";
  Trial second(TierProgram(2, 1, true));
  second.options.nvme_dir = list.c_str();
  expectNoSession(second, ZERO_RT_BAD_FILE, "/b/zero-rank1.nvme' exists and is no tier file");
  EXPECT_TRUE(std::filesystem::is_empty(a)) << "the files on other drives are removed";
  const std::string twice = a + "," + folder.path + "/b/../a";
  second.options.nvme_dir = twice.c_str();
  expectNoSession(second, ZERO_RT_INVALID_ARGUMENT, "/b/../a' twice");
  for (const char *empty : {",", "a,,b", "a,"}) {
    second.options.nvme_dir = empty;
    expectNoSession(second, ZERO_RT_INVALID_ARGUMENT,
                    "expected directories with commas between them");
  }
}

/// In a program that only reads, no code accesses the file before a lane does.
TEST_F(TierFaults, ALaneThatReadsPastTheEndStopsAllRanks) {
  TierProgram program(3, 1, true);
  for (int write : {6, 3})
    program.segment(1).mutable_commands()->DeleteSubrange(write, 1);
  Trial trial(program);
  begin(trial);
  EXPECT_OK(trial.step());
  std::filesystem::resize_file(file(2), 20000);
  EXPECT_FAILS(trial.step(), ZERO_RT_IO, "rank 2, lane NVME_READ, 'read big': cannot read");
  EXPECT_FAILS(trial.step(), ZERO_RT_ABORTED, "zero-rank2.nvme': the file ends there");
}

/// A command of the host's lane never returns.
TEST_F(TierFaults, ALaneThatHangsEndsByTheTimeout) {
  EXPECT_TRUE(inProcess([&] {
    TierProgram program(2, 1, true);
    proto::Command &hang = launch(program.segment(1), 6, {program.at.x});
    hang.set_lane(proto::HOST_COMPUTE);
    hang.mutable_launch()->mutable_args(0)->set_bytes(32);
    Trial trial(program);
    trial.options.nvme_dir = folder.path.c_str();
    trial.options.timeout_seconds = 1;
    trial.start();
    trial.bind(4, 1234, 2);
    EXPECT_FAILS(trial.step(), ZERO_RT_TIMEOUT,
                 "rank 1: lane HOST_COMPUTE has done nothing for 1 s");
    EXPECT_FAILS(trial.step(), ZERO_RT_ABORTED, "the session has ended");
  }));
}

/// Whether the byte of the header that marks a step in progress is set.
bool isTorn(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(12);
  return stream.get() == 1;
}

/// The lowest byte of the number of completed steps.
int generationOf(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(48);
  return stream.get();
}

TEST_F(TierFaults, AKilledProcessLeavesATornFileThatIsReplaced) {
  TierProgram program(1, 1, true);
  TierProgram hanging = program;
  proto::Command &hang = launch(hanging.segment(1), 6, {program.at.x});
  hang.set_lane(proto::HOST_COMPUTE);
  hang.mutable_launch()->mutable_args(0)->set_bytes(32);
  const pid_t child = ::fork();
  if (child == 0) {
    Trial trial(hanging);
    trial.options.nvme_dir = folder.path.c_str();
    trial.start();
    trial.bind(4, 1234, 2);
    (void)trial.step();
    (void)trial.step(); // the host hangs in this step
    ::_exit(0);
  }
  // Waits for the second step. The order of the conditions matters, because the mark is not set
  // between steps.
  while (generationOf(file(0)) < 1 || !isTorn(file(0)))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(::kill(child, SIGKILL), 0);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(isTorn(file(0)));
  Trial trial(program), plain(TierProgram(1, 1, false));
  begin(trial), begin(plain);
  EXPECT_FALSE(isTorn(file(0)));
  for (int step = 0; step < 2; ++step) {
    EXPECT_OK(trial.step());
    EXPECT_OK(plain.step());
    EXPECT_EQ(trial.weights(), plain.weights());
  }
  zero_rt_session_free(std::exchange(trial.session, nullptr));
  EXPECT_TRUE(folder.isEmpty());
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

template <typename Edit>
void refuse(Edit edit, const std::string &part) {
  TierProgram program(2, 1, true);
  edit(program);
  expectRefused(program, ZERO_RT_BAD_FILE, part);
}

proto::Address &source(TierProgram &program, int segment, int command) {
  return *program.segment(segment).mutable_commands(command)->mutable_copy()->mutable_src();
}

TEST(TierTables, AreChecked) {
  refuse([](auto &t) { *t.program.add_arenas() = t.program.arenas(1); },
         "two arenas of the host tier");
  refuse([](auto &t) { t.program.mutable_arenas(2)->set_bytes(5000); },
         "an arena on disk of 5000 bytes, no multiple of 4096");
  refuse([](auto &t) { t.program.mutable_arenas(2)->set_bytes(t.disk.end - 4096); },
         "'big.buffer': an address lies outside the arena");
  refuse([](auto &t) { source(t, 0, 0).set_offset(t.disk.end); },
         "'read w': an address lies outside the arena");
  refuse([](auto &t) { source(t, 0, 0).set_offset(64); },
         "'read w': a transfer of the disk does not start at a multiple of 4096");
  refuse([](auto &t) { source(t, 0, 0).add_rank_strides(64); },
         "'read w': a transfer of the disk does not start at a multiple of 4096");
  refuse([](auto &t) { t.segment(0).mutable_commands(0)->set_lane(proto::H2D); },
         "'read w': expected a transfer on lane NVME_READ, got lane H2D");
  refuse([](auto &t) { source(t, 0, 1).set_tier(proto::NVME); },
         "'w to the device': expected a copy between the nvme tier and the host tier, got one with "
         "the device tier");
  refuse([](auto &t) { t.segment(0).mutable_commands(1)->set_lane(proto::NVME_READ); },
         "'w to the device': a lane of the disk with a copy that does not access it");
  refuse([](auto &t) { t.segment(1).mutable_commands(2)->set_lane(proto::D2H); },
         "'update w': a kernel on lane D2H");
  refuse(
      [](auto &t) {
        t.segment(1).mutable_commands(2)->mutable_launch()->mutable_args(0)->set_tier(proto::NVME);
      },
      "'update w': a kernel cannot access the nvme tier");
  refuse(
      [](auto &t) {
        t.segment(0).mutable_commands(2)->mutable_collective()->mutable_src()->set_tier(
            proto::HOST);
      },
      "'gather w': it resides in the host tier, not in the device tier");
  refuse([](auto &t) { t.segment(0).mutable_commands(2)->set_lane(proto::H2D); },
         "'gather w': expected lane COMPUTE or COLLECTIVE, got lane H2D");
  refuse([](auto &t) { t.program.add_predicates()->set_tier(proto::HOST); },
         "it resides in the host tier, not in the device tier");
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Expects that --check-memory rejects the program before execution with `part` in the message.
void expectFound(const TierProgram &program, const std::string &part) {
  TemporaryFolder folder;
  Trial trial(program);
  trial.options.check_memory = 1;
  trial.options.nvme_dir = folder.path.c_str();
  EXPECT_FAILS(zero_rt_session_create(trial.executable, &trial.options, &trial.session),
               ZERO_RT_BAD_FILE, part);
}

TEST(TierCheck, NamesWhatNobodyBrought) {
  TierProgram program(2, 1, true);
  program.segment(1).mutable_commands()->DeleteSubrange(0, 1);
  expectFound(program,
              "('add', lane HOST_COMPUTE): it reads bytes 4096 to 1204124 of the host arena, which "
              "no command has written in this step");
}

TEST(TierCheck, NamesWhatTheDiskDoesNotHave) {
  TierProgram program(2, 1, true);
  source(program, 1, 0).set_reads(source(program, 0, 0).reads());
  expectFound(program, "('read big', lane NVME_READ): it reads bytes 4096 to 1204124 of the nvme "
                       "arena, which the step before wrote last, with another value");
}

/// A transfer overwrites the rest of its last block, so no value may use it.
TEST(TierCheck, SeesWhatABlockOfTheDiskTakesWithIt) {
  TierProgram program(2, 1, true);
  const uint64_t behind = program.disk.big + kBig * 4;
  addTensor(program.program, "tail", proto::OPTIMIZER, proto::F32, {6, 1, behind}, {6})
      ->mutable_init()
      ->set_splat(0);
  proto::Buffer &buffer = *program.program.mutable_buffers()->rbegin();
  buffer.set_tier(proto::NVME);
  buffer.set_value(7);
  expectFound(program,
              "the next step's 'tail.buffer': it reads bytes 1204124 to 1204148 of the nvme "
              "arena, which no command has written in this step");
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// Two kernels on two lanes that wait for each other.
TEST(TierLanes, RunBesideEachOther) {
  TemporaryFolder folder;
  TierProgram program(2, 1, true);
  addKernels(program.program, {{"meet"}});
  const uint64_t flags = program.at.end;
  program.program.mutable_arenas(0)->set_bytes(flags + 128);
  for (int i = 0; i < 2; ++i) {
    auto *tensor = addTensor(program.program, i ? "host flag" : "flag", proto::OPTIMIZER,
                             proto::I64, {1, 1, flags + 64 * uint64_t(i)}, {1});
    tensor->mutable_init()->set_splat(0);
    const uint64_t own = flags + 64 * uint64_t(i), other = flags + 64 * uint64_t(1 - i);
    proto::Command &meet =
        launch(program.segment(1), program.program.kernels_size() - 1, {own, other});
    meet.set_lane(i ? proto::HOST_COMPUTE : proto::COMPUTE);
    // and it does not declare the access of the other
    meet.mutable_launch()->mutable_args(0)->set_bytes(8);
    meet.mutable_launch()->mutable_args(0)->set_writes(7);
  }
  Trial trial(program);
  trial.options.nvme_dir = folder.path.c_str();
  trial.start();
  trial.bind(4);
  EXPECT_OK(trial.step());
  for (const char *name : {"flag", "host flag"}) {
    int64_t flag = 0;
    EXPECT_OK(zero_rt_session_read_tensor(trial.session, name, &flag, 8));
    EXPECT_EQ(flag, 2) << name;
  }
}

} // namespace
