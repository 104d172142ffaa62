//===- nccl_test.cpp - ranks on GPUs of their own -------------------------===//

#include "host_ends.h"
#include "recording.h"
#include "runtime/comm/nccl/nccl_group.h"
#include "runtime/device/cuda/code.h"
#include "runtime/support/floats.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace zero::rt;
using namespace zero::rt::cuda;

namespace {

using Group = std::vector<std::unique_ptr<Communicator>>;

std::vector<Status> onAll(Group &group, const std::function<Status(Communicator &)> &body) {
  std::vector<Status> results(group.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < group.size(); ++rank)
    threads.emplace_back([&, rank] { results[rank] = body(*group[rank]); });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

void expectOk(const Status &status) { EXPECT_TRUE(status.ok()) << status.getMessage(); }

constexpr int kRanks = 3;

/// Uses small integers, whose sums are exact in any order and in all of the types.
template <typename T>
void checkSums(DType dtype) {
  Group group = makeNcclGpuGroup({.ranks = kRanks, .timeoutSeconds = 60});
  for (const Status &each : onAll(group, [&](Communicator &end) {
         const size_t size = 7;
         const int rank = end.rank();
         std::vector<T> data(size * kRanks), all(size * kRanks);
         for (size_t i = 0; i < data.size(); ++i)
           data[i] = T(float(3 * (int(i) + rank)));
         T *own = data.data() + rank * size;
         ZERO_RT_TRY(end.reduceScatter({"x"}, {dtype, true}, data.data(), own, size));
         for (size_t i = 0; i < size; ++i)
           EXPECT_EQ(float(own[i]), float(3 * (rank * int(size) + int(i) + 1)));
         ZERO_RT_TRY(end.allGather({"y"}, dtype, own, all.data(), size));
         for (size_t i = 0; i < all.size(); ++i)
           EXPECT_EQ(float(all[i]), float(3 * (int(i) + 1)));
         ZERO_RT_TRY(end.allReduce({"z", 2, true}, {dtype}, all.data(), all.size()));
         for (size_t i = 0; i < all.size(); ++i)
           EXPECT_EQ(float(all[i]), float(9 * (int(i) + 1)));
         EXPECT_EQ(end.traffic().modelElements, 2 * (kRanks - 1) * size);
         EXPECT_EQ(end.traffic().controlElements, 2 * (kRanks - 1) * size);
         return end.check();
       }))
    expectOk(each);
  EXPECT_EQ(recording::problems(), std::vector<std::string>());
}

TEST(NcclGroup, SumsAndScalesByItself) {
  checkSums<float>(ZERO_RT_F32);
  checkSums<double>(ZERO_RT_F64);
  checkSums<int64_t>(ZERO_RT_I64);
  checkSums<BFloat16>(ZERO_RT_BF16);
  checkSums<_Float16>(ZERO_RT_F16);
}

/// The sum of these values is out of range.
TEST(NcclGroup, AMeanOfFloat16StaysInRange) {
  Group group = makeNcclGpuGroup({.ranks = kRanks, .timeoutSeconds = 60});
  for (const Status &each : onAll(group, [](Communicator &end) {
         std::vector<_Float16> data(5, _Float16(40000));
         ZERO_RT_TRY(end.allReduce({"x"}, {ZERO_RT_F16, true}, data.data(), data.size()));
         EXPECT_EQ(data, std::vector<_Float16>(5, _Float16(40000)));
         return end.check();
       }))
    expectOk(each);
}

/// Threads synchronize only once per collective: the first thread may already be in the next one
/// while the last thread still reads its inputs.
TEST(NcclGroup, IsNotConfusedByThoseAhead) {
  Group group = makeNcclGpuGroup({.ranks = kRanks, .timeoutSeconds = 60});
  for (const Status &each : onAll(group, [](Communicator &end) {
         for (uint64_t index = 0; index < 300; ++index) {
           float value = 1;
           ZERO_RT_TRY(end.allReduce({"x", index}, {ZERO_RT_F32}, &value, index % 2));
         }
         return end.check();
       }))
    expectOk(each);
}

TEST(NcclGroup, AStalledThreadIsNamed) {
  Group group = makeNcclGpuGroup(
      {.ranks = kRanks, .timeoutSeconds = 1, .stallRank = 1, .stallCollective = 2});
  for (const Status &each : onAll(group, [](Communicator &end) {
         for (uint64_t index = 0;; ++index) {
           float value = 1;
           ZERO_RT_TRY(end.allReduce({"layer.7", index}, {ZERO_RT_F32}, &value, 1));
         }
       }))
    EXPECT_EQ(each.getMessage(), "rank 1 did not arrive at collective 2 ('layer.7') within 1 s");
}

/// The kernels of NCCL wait for that of a rank whose GPU is stuck. When this rank gives up, all of
/// them end: otherwise nobody could free memory beside them.
TEST(NcclGroup, ARankThatFailsEndsTheWorkOfAll) {
  ::setenv("ZERO_CUDA_DRIVER", ZERO_RECORDING_CUDA, 1);
  ::setenv("ZERO_NCCL", ZERO_RECORDING_CUDA, 1);
  recording::reset({.devices = kRanks});
  recording::addKernel("stuck", 0, 0, [](const auto &, const auto &, uint64_t) {});
  recording::stall("stuck");
  std::shared_ptr<const Driver> driver;
  std::vector<std::shared_ptr<const Gpu>> gpus(kRanks);
  std::vector<std::shared_ptr<Lanes>> lanes(kRanks);
  const uint32_t lane = 0;
  expectOk(Driver::open(driver));
  for (int rank = 0; rank < kRanks; ++rank) {
    expectOk(Gpu::open(driver, rank, gpus[size_t(rank)]));
    expectOk(Lanes::create(gpus[size_t(rank)], {&lane, 1}, 60, lanes[size_t(rank)]));
  }
  Group ends;
  expectOk(makeNcclGroup({.ranks = kRanks, .timeoutSeconds = 60}, lanes, ends));
  std::unique_ptr<GpuModule> module;
  Function function = nullptr;
  expectOk(GpuModule::load(gpus[1],
                           ".version 7.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry stuck() {\nret;\n}\n",
                           module));
  expectOk(module->find("stuck", function));
  const auto begin = std::chrono::steady_clock::now();
  for (const Status &each : onAll(ends, [&](Communicator &end) {
         const auto rank = size_t(end.rank());
         ZERO_RT_TRY(gpus[rank]->makeCurrent());
         Address data = 0;
         EXPECT_EQ(driver->cuMemAlloc(&data, 64), kSuccess);
         EXPECT_EQ(driver->cuMemsetD8Async(data, 0, 64, lanes[rank]->current()), kSuccess);
         if (rank == 1)
           EXPECT_EQ(driver->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, lanes[1]->current(),
                                            nullptr, nullptr),
                     kSuccess);
         ZERO_RT_TRY(end.allReduce({"x"}, {ZERO_RT_F32}, reinterpret_cast<void *>(data), 16));
         if (rank == 1) {
           end.abort(Status(ZERO_RT_INTERNAL, "rank 1 has failed"));
           recording::release();
         }
         // The first wait may end before the abort is noticed, the second one tells of it then.
         Status status = lanes[rank]->finish();
         if (Status again = lanes[rank]->finish(); status.ok())
           status = again;
         EXPECT_EQ(driver->cuMemFree(data), kSuccess);
         return status;
       }))
    EXPECT_TRUE(each.ok() || each.getMessage() == "rank 1 has failed") << each.getMessage();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(recording::problems(), std::vector<std::string>());
}

/// The recording library itself: what would hang is found.
class NcclBesideFrees : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("ZERO_CUDA_DRIVER", ZERO_RECORDING_CUDA, 1);
    ::setenv("ZERO_NCCL", ZERO_RECORDING_CUDA, 1);
    recording::reset({.devices = 2, .hangSeconds = 0.1});
    NcclId id;
    NcclConfig config;
    const uint32_t lane = 0;
    expectOk(Driver::open(driver));
    expectOk(Nccl::open(nccl));
    expectOk(nccl->check(nccl->ncclGetUniqueId(&id), "ncclGetUniqueId"));
    for (int rank : {0, 1}) {
      expectOk(Gpu::open(driver, rank, gpus[rank]));
      expectOk(Lanes::create(gpus[rank], {&lane, 1}, 1, lanes[rank]));
      EXPECT_EQ(nccl->ncclCommInitRankConfig(&ends[rank], 2, id, rank, &config), kNcclInProgress);
      EXPECT_EQ(driver->cuMemAlloc(&data[rank], 64), kSuccess);
      EXPECT_EQ(driver->cuMemsetD8Async(data[rank], 0, 64, lanes[rank]->current()), kSuccess);
    }
  }
  /// Rank 0 waits for rank 1.
  void begin(int rank = 0) {
    expectOk(gpus[rank]->makeCurrent());
    void *values = reinterpret_cast<void *>(data[rank]);
    EXPECT_EQ(nccl->ncclAllReduce(values, values, 16, kNcclFloat32, kNcclSum, ends[rank],
                                  lanes[rank]->current()),
              kNcclSuccess);
  }
  void abortAll() {
    std::thread other([&] { nccl->ncclCommAbort(ends[1]); });
    nccl->ncclCommAbort(ends[0]);
    other.join();
  }
  void free(int rank) {
    expectOk(gpus[rank]->makeCurrent());
    EXPECT_EQ(driver->cuMemFree(data[rank]), kSuccess);
  }
  static void expectProblem(const std::string &text) {
    const auto problems = recording::problems();
    ASSERT_FALSE(problems.empty());
    EXPECT_EQ(problems.front(), text);
  }

  std::shared_ptr<const Driver> driver;
  std::shared_ptr<const Nccl> nccl;
  std::shared_ptr<const Gpu> gpus[2];
  std::shared_ptr<Lanes> lanes[2];
  NcclHandle ends[2]{};
  Address data[2]{};
};

TEST_F(NcclBesideFrees, MemoryIsNotFreed) {
  begin();
  free(1);
  expectProblem("cuMemFree would hang: NCCL kernel of collective 0 of rank 0 is running");
  abortAll();
  free(0);
}

TEST_F(NcclBesideFrees, CodeIsNotUnloaded) {
  std::unique_ptr<GpuModule> module;
  expectOk(GpuModule::load(gpus[0],
                           ".version 7.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry none() {\nret;\n}\n",
                           module));
  begin();
  module.reset();
  expectProblem("cuModuleUnload would hang: NCCL kernel of collective 0 of rank 0 is running");
  abortAll();
  free(0), free(1);
}

TEST_F(NcclBesideFrees, AGroupIsNotDestroyed) {
  begin();
  nccl->ncclCommFinalize(ends[0]);
  NcclResult state = kNcclSuccess;
  EXPECT_EQ(nccl->ncclCommGetAsyncError(ends[0], &state), kNcclSuccess);
  EXPECT_EQ(state, kNcclInProgress);
  nccl->ncclCommDestroy(ends[0]);
  expectProblem("ncclCommDestroy would hang: NCCL kernel of collective 0 of rank 0 is running");
  begin(1); // it comes in the end
  expectOk(lanes[0]->finish());
  expectOk(lanes[1]->finish());
  nccl->ncclCommDestroy(ends[1]);
  free(0), free(1);
}

TEST_F(NcclBesideFrees, ARankDoesNotAbortAlone) {
  begin();
  nccl->ncclCommAbort(ends[0]);
  expectProblem("ncclCommAbort of rank 0 would hang: rank 1 of this process has not aborted");
  nccl->ncclCommAbort(ends[1]);
  expectOk(lanes[0]->finish());
  free(0), free(1);
}

TEST_F(NcclBesideFrees, OnceAllHaveComeAllIsFreed) {
  begin(), begin(1);
  free(0), free(1);
  abortAll();
  EXPECT_EQ(recording::problems(), std::vector<std::string>());
}

TEST(NcclGroup, RanksThatShareGpusInPairsAreRefused) {
  ::setenv("ZERO_CUDA_DRIVER", ZERO_RECORDING_CUDA, 1);
  recording::reset({.devices = 2});
  std::shared_ptr<const Driver> driver;
  std::shared_ptr<const Gpu> gpu;
  std::vector<std::shared_ptr<Lanes>> lanes;
  const uint32_t lane = 0;
  expectOk(Driver::open(driver));
  for (int ordinal : {0, 1, 1}) {
    expectOk(Gpu::open(driver, ordinal, gpu));
    expectOk(Lanes::create(gpu, {&lane, 1}, 1, lanes.emplace_back()));
  }
  Group ends;
  EXPECT_EQ(makeNcclGroup({.ranks = 3}, lanes, ends).getMessage(),
            "3 ranks on 2 GPUs: expected all ranks on one GPU, or one rank on each");
}

/// The part of a group that a process has.
struct Process {
  std::shared_ptr<const Nccl> nccl;
  std::shared_ptr<Lanes> lanes;

  explicit Process(int ordinal) {
    std::shared_ptr<const Driver> driver;
    std::shared_ptr<const Gpu> gpu;
    const uint32_t lane = 0;
    ::setenv("ZERO_CUDA_DRIVER", ZERO_RECORDING_CUDA, 1);
    ::setenv("ZERO_NCCL", ZERO_RECORDING_CUDA, 1);
    expectOk(Nccl::open(nccl));
    expectOk(Driver::open(driver));
    expectOk(Gpu::open(driver, ordinal, gpu));
    expectOk(Lanes::create(gpu, {&lane, 1}, 1, lanes));
  }
};

TEST(NcclProcesses, JoinByTheIdsOfTheirGroups) {
  recording::reset({.devices = 4});
  const GroupOptions options{
      .ranks = 4, .timeoutSeconds = 20, .mesh = Mesh(std::array{2, 2}), .groups = {1, 2, 1}};
  std::vector<NcclId> ids;
  {
    Process first(0);
    expectOk(makeNcclIds(*first.nccl, options, ids));
  }
  EXPECT_EQ(ids.size(), 2u + 2 + 1); // along each axis, and all
  Status results[4];
  std::vector<std::thread> processes;
  for (int rank : {1, 0, 3, 2})
    processes.emplace_back([&, rank] {
      Process process(rank);
      auto join = [&]() -> Status {
        std::vector<std::unique_ptr<Communicator>> ends;
        ZERO_RT_TRY(joinNcclGroup(process.nccl, ids, rank, options, process.lanes, ends));
        EXPECT_EQ(ends.front()->rank(), rank);
        EXPECT_EQ(ends.front()->ranks(), 4);
        return ends.front()->check();
      };
      results[rank] = join();
    });
  for (std::thread &process : processes)
    process.join();
  for (const Status &result : results)
    expectOk(result);
}

TEST(NcclProcesses, OneThatDoesNotComeIsFoundInTime) {
  recording::reset({.devices = 1});
  Process process(0);
  NcclId id;
  expectOk(process.nccl->check(process.nccl->ncclGetUniqueId(&id), "ncclGetUniqueId"));
  const GroupOptions options{.ranks = 2, .timeoutSeconds = 0.2};
  std::vector<std::unique_ptr<Communicator>> ends;
  EXPECT_EQ(joinNcclGroup(process.nccl, {id}, 0, options, process.lanes, ends).getMessage(),
            "NCCL's start: not all ranks arrived within 0.2 s");
  std::filesystem::remove_all(id.bytes); // the recording library waited here for the other rank
}

TEST(Nccl, ThatIsNotThereIsOneClearError) {
  ::setenv("ZERO_NCCL", "/nonexistent/libnccl.so.2", 1);
  std::shared_ptr<const Nccl> nccl;
  Status status = Nccl::open(nccl);
  EXPECT_EQ(status.getCode(), ZERO_RT_NOT_FOUND);
  EXPECT_NE(status.getMessage().find("NCCL was not found: looked for '/nonexistent/libnccl.so.2'"),
            std::string::npos)
      << status.getMessage();
}

/// Version and id are available without a GPU.
TEST(Nccl, ThatIsInstalledTellsItsVersionAndMakesIds) {
  ::unsetenv("ZERO_NCCL");
  std::shared_ptr<const Nccl> nccl;
  if (Status status = Nccl::open(nccl); !status.ok())
    GTEST_SKIP() << status.getMessage();
  EXPECT_GE(nccl->version(), 21800);
  NcclId one{}, other{};
  expectOk(nccl->check(nccl->ncclGetUniqueId(&one), "ncclGetUniqueId"));
  expectOk(nccl->check(nccl->ncclGetUniqueId(&other), "ncclGetUniqueId"));
  EXPECT_NE(std::string(one.bytes, sizeof(one)), std::string(other.bytes, sizeof(other)));
}

} // namespace
