//===- device_test.cpp - conformance tests for devices --------------------===//

#include "../runtime/trial.h"
#include "recording.h"
#include "runtime/device/cpu/cpu_device.h"
#include "runtime/device/cuda/cuda_device.h"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

using namespace zero::rt;

namespace {

enum Kernels { Sgd = 3, Increment = 5 }; // kernel indices in the tiny program

std::unique_ptr<Device> makeOnCpu(HandMadeProgram &made) {
  made.code = testKernels();
  std::shared_ptr<Module> module;
  Status status =
      Module::load(made.program,
                   {reinterpret_cast<const uint8_t *>(made.code.data()), made.code.size()}, module);
  EXPECT_TRUE(status.ok()) << status.getMessage();
  return makeCpuDevice(module);
}

std::unique_ptr<Device> makeOnGpu(HandMadeProgram &made) {
  zero_rt_session_options options;
  moveTrial(made, options);
  std::unique_ptr<cuda::CudaDevice> device;
  Status status = cuda::CudaDevice::create(
      made.program, {reinterpret_cast<const uint8_t *>(made.code.data()), made.code.size()}, {}, -1,
      30, nullptr, device);
  EXPECT_TRUE(status.ok()) << status.getMessage();
  return device;
}

/// One kind of device. To test a new kind, add a line to kMakers.
struct Maker {
  const char *name;
  std::unique_ptr<Device> (*make)(HandMadeProgram &);
};
const Maker kMakers[] = {{"cpu", makeOnCpu}, {"gpu", makeOnGpu}};

#define ASSERT_DONE(call)                                                                          \
  do {                                                                                             \
    Status status = (call);                                                                        \
    ASSERT_TRUE(status.ok()) << status.getMessage();                                               \
  } while (false)

class DeviceSuite : public testing::TestWithParam<std::tuple<Maker, uint64_t>> {
protected:
  static constexpr uint64_t kBytes = (3 << 20) + 100;

  void SetUp() override {
    recording::reset({.seed = std::get<1>(GetParam())});
    device = std::get<0>(GetParam()).make(tiny);
    ASSERT_DONE(device->prepare(tiny.program, 1));
    ASSERT_DONE(device->makeQueue(0, queue));
    ASSERT_DONE(device->reserve(0, proto::DEVICE, kBytes, false, arena));
    ASSERT_DONE(arena->touch());
  }
  void TearDown() override { ASSERT_DONE(queue->finish()); }

  std::vector<char> read(uint64_t offset, uint64_t bytes) {
    std::vector<char> result(bytes, 1);
    uint64_t expected = 0;
    Status status =
        arena->read(offset, bytes, [&](const char *piece, uint64_t done, uint64_t size) {
          EXPECT_EQ(done, expected); // in order
          expected = done + size;
          EXPECT_TRUE(expected == bytes || size % Memory::kPiece == 0);
          std::memcpy(result.data() + done, piece, size);
          return Status();
        });
    EXPECT_TRUE(status.ok()) << status.getMessage();
    EXPECT_EQ(expected, bytes);
    return result;
  }
  Status write(uint64_t offset, const std::vector<char> &values) {
    return arena->write(offset, values.size(), [&](char *piece, uint64_t done, uint64_t size) {
      std::memcpy(piece, values.data() + done, size);
      return Status();
    });
  }
  char *at(uint64_t offset) { return arena->base() + offset; }
  Status copy(uint64_t to, uint64_t from, uint64_t bytes) {
    return queue->copy(at(to), at(from), bytes, CopyKind::DeviceToDevice);
  }

  TinyProgram tiny{1};
  std::unique_ptr<Device> device;
  std::unique_ptr<Queue> queue;
  std::unique_ptr<Arena> arena;
};

TEST_P(DeviceSuite, ArenaKeepsWhatIsWritten) {
  EXPECT_EQ(arena->bytes(), kBytes);
  EXPECT_EQ(read(0, kBytes), std::vector<char>(kBytes, 0));
  std::vector<char> values(kBytes - 37);
  std::iota(values.begin(), values.end(), 0);
  ASSERT_DONE(write(37, values));
  EXPECT_EQ(read(37, values.size()), values);
  EXPECT_EQ(read(0, 37), std::vector<char>(37, 0));
  EXPECT_EQ(read(5, 0), std::vector<char>());
}

TEST_P(DeviceSuite, ArenaPassesFailuresOn) {
  int pieces = 0;
  Status status = arena->write(0, kBytes, [&](char *, uint64_t, uint64_t) {
    ++pieces;
    return Status(ZERO_RT_IO, "the disk is full");
  });
  EXPECT_EQ(status.getMessage(), "the disk is full");
  EXPECT_EQ(pieces, 1);
}

TEST_P(DeviceSuite, WindowsCarryBothWays) {
  std::vector<Window> windows = {{64, 8, nullptr}, {128, 8, nullptr}, {256, 0, nullptr}};
  ASSERT_DONE(queue->open(*arena, windows));
  ASSERT_DONE(queue->meet());
  for (int64_t turn = 1; turn <= 5; ++turn) {
    ASSERT_DONE(queue->await(0));
    std::memcpy(windows[0].host, &turn, 8);
    ASSERT_DONE(queue->push(0));
    ASSERT_DONE(copy(128, 64, 8));
    ASSERT_DONE(queue->pull(1));
    ASSERT_DONE(queue->await(1));
    int64_t found;
    std::memcpy(&found, windows[1].host, 8);
    EXPECT_EQ(found, turn);
  }
  ASSERT_DONE(queue->push(2));
  ASSERT_DONE(queue->pull(2));
  ASSERT_DONE(queue->finish());
}

TEST_P(DeviceSuite, KernelsRunInOrder) {
  const std::vector<float> w(70, 8), g(70, 2), rate = {0.5f};
  auto bytesOf = [](const std::vector<float> &values) {
    const auto *begin = reinterpret_cast<const char *>(values.data());
    return std::vector<char>(begin, begin + values.size() * 4);
  };
  ASSERT_DONE(write(0, bytesOf(w)));
  ASSERT_DONE(write(1024, bytesOf(g)));
  ASSERT_DONE(write(2048, bytesOf(rate)));
  void *args[] = {at(0), at(1024), at(2048)}, *count[] = {at(4096)};
  ASSERT_DONE(queue->meet());
  for (int i = 0; i < 3; ++i)
    ASSERT_DONE(queue->launch(Sgd, args, 70));
  ASSERT_DONE(queue->launch(Sgd, args, 0)); // a launch over zero elements
  for (int i = 0; i < 4; ++i)
    ASSERT_DONE(queue->launch(Increment, count, 0));
  ASSERT_DONE(queue->finish());
  EXPECT_EQ(read(0, 280), bytesOf(std::vector<float>(70, 5)));
  EXPECT_EQ(read(4096, 1)[0], 4);
}

/// Moves a value from place to place, each time on the other lane.
TEST_P(DeviceSuite, LanesWaitForSignals) {
  constexpr uint32_t kHops = 20;
  ASSERT_DONE(write(0, std::vector<char>(64, 7)));
  ASSERT_DONE(queue->makeSignals(kHops));
  for (int round = 0; round < 3; ++round) {
    ASSERT_DONE(queue->meet());
    for (uint32_t hop = 0; hop < kHops; ++hop) {
      Order order{hop % 2 ? uint32_t(proto::COLLECTIVE) : uint32_t(proto::COMPUTE), {}, int(hop)};
      if (hop > 0)
        order.waits.push_back(hop - 1);
      ASSERT_DONE(queue->begin(order));
      ASSERT_DONE(copy(64 * (hop + 1), 64 * hop, 64));
      ASSERT_DONE(queue->end(order));
    }
    ASSERT_DONE(queue->finish());
    EXPECT_EQ(read(64 * kHops, 64), std::vector<char>(64, 7));
    ASSERT_DONE(write(64, std::vector<char>(64 * kHops, 0)));
  }
}

TEST_P(DeviceSuite, LanesMeet) {
  ASSERT_DONE(write(0, std::vector<char>(64, 7)));
  for (uint32_t turn = 0; turn < 10; ++turn) {
    ASSERT_DONE(queue->meet());
    const Order order{turn % 2 ? uint32_t(proto::COLLECTIVE) : uint32_t(proto::COMPUTE), {}, -1};
    ASSERT_DONE(queue->begin(order));
    ASSERT_DONE(copy(64 * (turn + 1), 64 * turn, 64));
    ASSERT_DONE(queue->end(order));
  }
  ASSERT_DONE(queue->finish());
  EXPECT_EQ(read(640, 64), std::vector<char>(64, 7));
}

INSTANTIATE_TEST_SUITE_P(All, DeviceSuite,
                         testing::Combine(testing::ValuesIn(kMakers),
                                          testing::Range<uint64_t>(1, 6)),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::to_string(std::get<1>(info.param));
                         });

} // namespace
