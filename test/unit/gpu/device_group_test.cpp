//===- device_group_test.cpp - ranks that share a GPU ---------------------===//
//
// Covers what the suite for all communicators does not: behaviour that is visible only when the
// host does not wait between collectives, and the code that computes sums.
//
//===----------------------------------------------------------------------===//

#include "recording.h"
#include "runtime/comm/device/device_group.h"
#include "runtime/comm/device/sum_code.h"
#include "runtime/device/cuda/arena.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace zero::rt;
using namespace zero::rt::cuda;

namespace {

void expectOk(const Status &status) { EXPECT_TRUE(status.ok()) << status.getMessage(); }

class SharedGpu : public testing::TestWithParam<uint64_t> {
protected:
  static constexpr int kRanks = 3;
  static constexpr uint64_t kTurns = 12, kBytes = 256;

  void SetUp() override {
    ::setenv("ZERO_CUDA_DRIVER", ZERO_RECORDING_CUDA, 1);
    recording::reset({.seed = GetParam()});
    std::shared_ptr<const Driver> driver;
    const uint32_t lane = 1;
    expectOk(Driver::open(driver));
    expectOk(Gpu::open(driver, 0, gpu));
    for (int rank = 0; rank < kRanks; ++rank) {
      expectOk(Lanes::create(gpu, {&lane, 1}, 30, lanes.emplace_back()));
      expectOk(reserveGpuMemory(gpu, kBytes * (1 + kRanks * kTurns), 30, arenas.emplace_back()));
      expectOk(arenas.back()->touch());
    }
    expectOk(makeDeviceGroup({.ranks = kRanks, .timeoutSeconds = 30}, lanes, ends));
  }
  void TearDown() override { EXPECT_EQ(recording::problems(), std::vector<std::string>()); }

  /// Runs body(rank) on one thread per rank, then waits for the streams of all ranks.
  template <typename Body>
  void onAll(Body body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank)
      threads.emplace_back([&, rank] {
        expectOk(gpu->makeCurrent());
        expectOk(body(rank));
      });
    for (std::thread &thread : threads)
      thread.join();
    for (const auto &each : lanes)
      expectOk(each->finish());
  }
  char *at(int rank, uint64_t place) { return arenas[size_t(rank)]->base() + place * kBytes; }
  Status set(int rank, uint64_t place, uint8_t value) {
    return gpu->driver().check(
        gpu->driver().cuMemsetD8Async(reinterpret_cast<Address>(at(rank, place)), value, kBytes,
                                      lanes[size_t(rank)]->current()),
        "cuMemsetD8Async");
  }
  void expectAll(int rank, uint64_t place, uint8_t value) {
    expectOk(arenas[size_t(rank)]->read(
        place * kBytes, kBytes, [&](const char *piece, uint64_t, uint64_t bytes) {
          for (uint64_t i = 0; i < bytes; ++i)
            EXPECT_EQ(uint8_t(piece[i]), value) << "rank " << rank << ", place " << place;
          return Status();
        }));
  }

  std::shared_ptr<const Gpu> gpu;
  std::vector<std::shared_ptr<Lanes>> lanes;
  std::vector<std::unique_ptr<Arena>> arenas;
  std::vector<std::unique_ptr<Communicator>> ends;
};

/// Overwrites a source directly after the call. The other ranks must have read it before.
TEST_P(SharedGpu, GathersInARowNeedNoHost) {
  onAll([&](int rank) {
    for (uint64_t turn = 0; turn < kTurns; ++turn) {
      ZERO_RT_TRY(set(rank, 0, uint8_t(turn * kRanks + rank)));
      ZERO_RT_TRY(ends[size_t(rank)]->allGather({"x", turn}, ZERO_RT_U8, at(rank, 0),
                                                at(rank, 1 + turn * kRanks), kBytes));
    }
    return Status();
  });
  for (int rank = 0; rank < kRanks; ++rank)
    for (uint64_t turn = 0; turn < kTurns; ++turn)
      for (int peer = 0; peer < kRanks; ++peer)
        expectAll(rank, 1 + turn * kRanks + uint64_t(peer), uint8_t(turn * kRanks + peer));
}

TEST_P(SharedGpu, SumsInARowNeedNoHost) {
  onAll([&](int rank) {
    for (uint64_t turn = 0; turn < kTurns; ++turn) { // bytes 1, 2, 3 as 32-bit integers
      ZERO_RT_TRY(set(rank, 1 + turn, uint8_t(rank + 1)));
      ZERO_RT_TRY(ends[size_t(rank)]->allReduce({"x", turn}, {ZERO_RT_I32}, at(rank, 1 + turn),
                                                kBytes / 4));
      ZERO_RT_TRY(gpu->driver().check(
          gpu->driver().cuMemcpyDtoDAsync(reinterpret_cast<Address>(at(rank, 20 + turn)),
                                          reinterpret_cast<Address>(at(rank, 1 + turn)), kBytes,
                                          lanes[size_t(rank)]->current()),
          "cuMemcpyDtoDAsync"));
      ZERO_RT_TRY(set(rank, 1 + turn, 0xff)); // value that other ranks must not read
    }
    return Status();
  });
  for (int rank = 0; rank < kRanks; ++rank)
    for (uint64_t turn = 0; turn < kTurns; ++turn)
      expectAll(rank, 20 + turn, 6);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SharedGpu, testing::Range<uint64_t>(1, 11));

#ifdef ZERO_PTXAS
/// Assembles the code for three generations of GPUs, as the driver does at start.
TEST(SumCode, IsTakenByTheAssembler) {
  const std::string path = testing::TempDir() + "zero-sums-" + std::to_string(::getpid()) + ".ptx";
  for (SumOrder order : {SumOrder{1, 1}, {2, 2}, {8, 8}, {8, 4}, {7, 2}, {64, 64}})
    for (int architecture : {80, 90, 100}) {
      std::ofstream(path) << sumCode(order);
      const std::string command = std::string(ZERO_PTXAS) + " -arch=sm_" +
                                  std::to_string(architecture) + " -o /dev/null " + path;
      EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
  ::unlink(path.c_str());
}
#endif

} // namespace
