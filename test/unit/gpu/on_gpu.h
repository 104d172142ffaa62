//===- on_gpu.h - tests with memory of the recording driver -----*- C++ -*-===//

#ifndef TEST_UNIT_GPU_ON_GPU_H
#define TEST_UNIT_GPU_ON_GPU_H

#include "recording.h"
#include "runtime/device/cuda/arena.h"
#include "runtime/device/cuda/lanes.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

namespace zero::rt::cuda {

inline void expectOk(const Status &status) { ASSERT_TRUE(status.ok()) << status.getMessage(); }

/// A GPU with a lane, and an arena that operands are placed in.
class OnGpu : public testing::Test {
protected:
  void SetUp() override {
    ::setenv("ZERO_CUDA_DRIVER", ZERO_RECORDING_CUDA, 1);
    open({});
  }
  void open(const recording::Settings &settings) {
    arena.reset(), lanes.reset(), gpu.reset();
    recording::reset(settings);
    std::shared_ptr<const Driver> driver;
    const uint32_t lane = 0;
    expectOk(Driver::open(driver));
    expectOk(Gpu::open(driver, 0, gpu));
    expectOk(Lanes::create(gpu, {&lane, 1}, 30, lanes));
  }
  void TearDown() override {
    for (const std::string &problem : recording::problems())
      ADD_FAILURE() << problem;
  }

  /// Writes `bytes` to the arena and returns their address.
  char *place(const std::vector<char> &bytes) {
    const uint64_t at = end;
    end += (bytes.size() + 63) / 64 * 64;
    expectOk(arena->write(at, bytes.size(), [&](char *piece, uint64_t done, uint64_t count) {
      std::memcpy(piece, bytes.data() + done, count);
      return Status();
    }));
    return arena->base() + at;
  }

  std::shared_ptr<const Gpu> gpu;
  std::shared_ptr<Lanes> lanes;
  std::unique_ptr<Arena> arena;
  uint64_t end = 0; ///< of what was placed
};

} // namespace zero::rt::cuda

#endif // TEST_UNIT_GPU_ON_GPU_H
