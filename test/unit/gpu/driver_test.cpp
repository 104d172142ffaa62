//===- driver_test.cpp - with a driver and without one --------------------===//

#include "recording.h"
#include "runtime/device/cuda/arena.h"
#include "runtime/device/cuda/code.h"
#include "runtime/device/cuda/cublaslt.h"
#include "runtime/device/cuda/lanes.h"

#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <thread>

using namespace zero::rt;
using namespace zero::rt::cuda;

namespace {

/// Sets an environment variable for the duration of a test.
class Setting {
public:
  Setting(const char *name, const char *value) : name(name) { ::setenv(name, value, 1); }
  ~Setting() { ::unsetenv(name); }

private:
  const char *name;
};

void expectFails(const Status &status, zero_rt_code code, const std::string &part) {
  EXPECT_EQ(status.getCode(), code) << status.getMessage();
  EXPECT_NE(status.getMessage().find(part), std::string::npos) << status.getMessage();
}

/// Machine code runs on its own generation only, and the driver assembles PTX for later ones.
TEST(GpuImages, ThoseThatTheGpuTakesAreTriedInOrder) {
  proto::Program program;
  auto add = [&](proto::GpuImage::Kind kind, uint32_t architecture) {
    proto::GpuImage &image = *program.add_gpu_images();
    image.set_kind(kind);
    image.set_architecture(architecture);
  };
  using List = std::vector<int>;
  add(proto::GpuImage::CUBIN, 80);
  add(proto::GpuImage::CUBIN, 90);
  add(proto::GpuImage::PTX, 80);
  EXPECT_EQ(imagesFor(program, 75), List());
  EXPECT_EQ(imagesFor(program, 86), (List{0, 2}));
  EXPECT_EQ(imagesFor(program, 90), (List{1, 2}));
  EXPECT_EQ(imagesFor(program, 120), (List{2}));
  add(proto::GpuImage::CUBIN, 86);
  EXPECT_EQ(imagesFor(program, 89), (List{3, 0, 2}));
  add(proto::GpuImage::PTX, 100);
  EXPECT_EQ(imagesFor(program, 120), (List{4, 2}));
}

TEST(CudaDriver, ThatIsNotThereIsOneClearError) {
  Setting path("ZERO_CUDA_DRIVER", "/nonexistent/libcuda.so.1");
  std::shared_ptr<const Driver> driver;
  Status status = Driver::open(driver);
  expectFails(status, ZERO_RT_NOT_FOUND,
              "the CUDA driver was not found: looked for '/nonexistent/libcuda.so.1'");
  expectFails(status, ZERO_RT_NOT_FOUND, "install NVIDIA's driver");
  expectFails(status, ZERO_RT_NOT_FOUND, "or set ZERO_CUDA_DRIVER to its path");
}

TEST(CudaDriver, OfAnotherKindLacksFunctions) {
  Setting path("ZERO_CUDA_DRIVER", "libm.so.6");
  std::shared_ptr<const Driver> driver;
  expectFails(Driver::open(driver), ZERO_RT_UNSUPPORTED,
              "the CUDA driver ('libm.so.6') has no function 'cuInit': it is too old");
}

TEST(CudaDriver, WithoutAGpuSaysWhereToLook) {
  Setting path("ZERO_CUDA_DRIVER", ZERO_RECORDING_CUDA);
  recording::reset({.devices = 0});
  std::shared_ptr<const Driver> driver;
  Status status = Driver::open(driver);
  expectFails(status, ZERO_RT_NOT_FOUND, "finds no GPU: see whether nvidia-smi lists one");
  recording::reset();
  EXPECT_TRUE(Driver::open(driver).ok());
  EXPECT_EQ(driver->devices(), 1);
  EXPECT_EQ(driver->version(), 13000);
}

TEST(CudaDriver, NamesItsErrors) {
  Setting path("ZERO_CUDA_DRIVER", ZERO_RECORDING_CUDA);
  std::shared_ptr<const Driver> driver;
  ASSERT_TRUE(Driver::open(driver).ok());
  expectFails(driver->check(kOutOfMemory, "cuMemAlloc"), ZERO_RT_IO,
              "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
}

/// Modules on the recording driver.
class CudaModule : public testing::Test {
protected:
  void SetUp() override { open({}); }
  void open(const recording::Settings &settings) {
    module.reset(), lanes.reset(), gpu.reset();
    recording::reset(settings);
    std::shared_ptr<const Driver> driver;
    const uint32_t lane = 0;
    ASSERT_TRUE(Driver::open(driver).ok());
    ASSERT_TRUE(Gpu::open(driver, 0, gpu).ok());
    ASSERT_TRUE(Lanes::create(gpu, {&lane, 1}, 30, lanes).ok());
  }
  Status load(const std::string &text) { return GpuModule::load(gpu, text.c_str(), module); }

  static constexpr const char *kHeader = ".version 7.0\n.target sm_80\n.address_size 64\n";
  Setting path{"ZERO_CUDA_DRIVER", ZERO_RECORDING_CUDA};
  std::shared_ptr<const Gpu> gpu;
  std::shared_ptr<Lanes> lanes;
  std::unique_ptr<GpuModule> module;
};

TEST_F(CudaModule, OfAnotherKindIsRefusedByName) {
  const uint64_t before = recording::counts().alive;
  expectFails(
      load(std::string(kHeader) + ".visible .entry k() {\nnanosleep.u32 5;\n}\n"),
      ZERO_RT_UNSUPPORTED,
      "CUDA_ERROR_INVALID_PTX (as the recording driver says): line 5: 'nanosleep.u32': this "
      "opcode is not implemented");
  expectFails(load("\x7f"
                   "ELF"),
              ZERO_RT_UNSUPPORTED, "machine code: compile with");
  EXPECT_EQ(recording::counts().alive, before);
}

/// Others wait for a collective.
TEST_F(CudaModule, ShareTheGpuWithUrgentCollectives) {
  const uint64_t before = recording::counts().urgent;
  std::shared_ptr<Lanes> made;
  ASSERT_TRUE(Lanes::create(gpu, std::vector<uint32_t>{proto::COMPUTE, proto::H2D}, 1, made).ok());
  EXPECT_EQ(recording::counts().urgent, before);
  ASSERT_TRUE(
      Lanes::create(gpu, std::vector<uint32_t>{proto::COMPUTE, proto::COLLECTIVE}, 1, made).ok());
  EXPECT_EQ(recording::counts().urgent, before + 1);
}

/// As NVIDIA's programming guide says for each compute capability.
TEST_F(CudaModule, HasTheSharedMemoryOfTheGpu) {
  for (auto [capability, most] : {std::pair{80, 163}, {86, 99}, {90, 227}, {100, 227}, {120, 99}}) {
    open({.capability = capability});
    ASSERT_TRUE(load(std::string(kHeader) + ".visible .entry k() {\nret;\n}\n").ok());
    Function function;
    ASSERT_TRUE(module->find("k", function).ok());
    EXPECT_TRUE(module->allowShared(function, uint32_t(most) << 10).ok()) << capability;
    const uint32_t more = (uint32_t(most) << 10) + 1;
    expectFails(module->allowShared(function, more), ZERO_RT_UNSUPPORTED,
                "it needs " + std::to_string(more) +
                    " bytes of shared memory for a block, of which GPU 0 (recording, sm_" +
                    std::to_string(capability) + ") has " + std::to_string(more - 1));
  }
  EXPECT_EQ(recording::problems(), std::vector<std::string>());
}

TEST_F(CudaModule, ThatFailsFailsFromThenOn) {
  const std::string code = ".visible .entry k(.param .u64 p) {\n.reg .b64 %l;\n.reg .b32 %r;\n"
                           "ld.param.b64 %l, [p];\nld.global.b32 %r, [%l];\n}\n";
  ASSERT_TRUE(load(kHeader + code).ok());
  Function function;
  ASSERT_TRUE(module->find("k", function).ok());
  Address address;
  ASSERT_EQ(gpu->driver().cuMemAlloc(&address, 8), kSuccess);
  auto launch = [&](Address at) {
    void *arguments[] = {&at};
    return gpu->driver().check(gpu->driver().cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0,
                                                            lanes->current(), arguments, nullptr),
                               "cuLaunchKernel");
  };
  ASSERT_EQ(gpu->driver().cuMemsetD8Async(address, 1, 8, lanes->current()), kSuccess);
  EXPECT_TRUE(launch(address + 4).ok());
  EXPECT_TRUE(lanes->finish().ok());
  const std::string first = "first", last = "last";
  lanes->announce(first);
  EXPECT_TRUE(launch(address + 8).ok());
  lanes->announce(last);
  const char *what = "CUDA_ERROR_LAUNCH_FAILED (kernel 'k', line 8 (ld.global.b32): thread 0 of "
                     "block 0: reads 4 bytes at byte 8 of an allocation of 8 bytes)";
  expectFails(lanes->finish(), ZERO_RT_INTERNAL, what);
  expectFails(lanes->finish(), ZERO_RT_INTERNAL,
              "by one of the kernels from 'first' to 'last'; with CUDA_LAUNCH_BLOCKING=1");
  expectFails(launch(address), ZERO_RT_INTERNAL, what);
  EXPECT_EQ(recording::problems().size(), 1u);
  EXPECT_EQ(gpu->driver().cuMemFree(address), kSuccess);
}

/// Commands of one lane, each of which takes 5 ms.
class SlowCommands : public CudaModule {
protected:
  void SetUp() override {
    CudaModule::SetUp();
    recording::addKernel("slow", 0, 1, [](const auto &, const auto &, uint64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    });
    const uint32_t lane = 0;
    ASSERT_TRUE(Lanes::create(gpu, {&lane, 1}, kTimeout, lanes).ok());
    ASSERT_TRUE(
        load(std::string(kHeader) + ".visible .entry slow(.param .u64 n) {\nret;\n}\n").ok());
    ASSERT_TRUE(module->find("slow", function).ok());
  }
  void enqueue(int count) {
    int64_t length = 1;
    void *arguments[] = {&length};
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(lanes->begin({0, {}, -1}).ok());
      ASSERT_EQ(gpu->driver().cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, lanes->current(),
                                             arguments, nullptr),
                kSuccess);
      ASSERT_TRUE(lanes->end({0, {}, -1}).ok());
    }
  }

  static constexpr double kTimeout = 0.25;
  Function function = nullptr;
};

TEST_F(SlowCommands, HaveAsMuchTimeAsTheyMakeProgress) {
  enqueue(200); // four times the timeout
  Status status = lanes->finish();
  EXPECT_TRUE(status.ok()) << status.getMessage();
}

TEST_F(SlowCommands, ThatMakeNoProgressEndByTheTimeout) {
  recording::stall("slow");
  enqueue(1);
  expectFails(lanes->finish(), ZERO_RT_TIMEOUT, "GPU 0 has finished no work within 0.25 s");
  recording::release();
  EXPECT_TRUE(lanes->finish().ok());
}

/// What else may have failed ends a wait, and the work is waited for all the same.
TEST_F(SlowCommands, AreNotWaitedForWhenWhatIsWatchedFails) {
  recording::stall("slow");
  enqueue(1);
  lanes->watch([] { return Status(ZERO_RT_ABORTED, "a peer has ended"); });
  expectFails(lanes->finish(), ZERO_RT_ABORTED, "a peer has ended");
  recording::release();
  EXPECT_TRUE(lanes->finish().ok());
}

TEST(Cublaslt, ThatIsNotThereIsOneClearError) {
  Setting path("ZERO_CUBLASLT", "/nonexistent/libcublasLt.so");
  std::shared_ptr<const BlasLibrary> library;
  expectFails(BlasLibrary::open(library), ZERO_RT_NOT_FOUND,
              "cuBLASLt was not found: looked for '/nonexistent/libcublasLt.so'");
}

} // namespace
