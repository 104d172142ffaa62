//===- cpu_device.cpp - kernels on this machine's cores -------------------===//

#include "runtime/device/cpu/cpu_device.h"

#include "runtime/device/cpu/arena.h"
#include "runtime/device/cpu/library.h"
#include "runtime/device/cpu/openmp.h"
#include "runtime/device/cpu/spread.h"
#include "runtime/support/core.h"

#include <algorithm>
#include <cstring>

namespace zero::rt {

namespace {

/// Either a native function or a library's.
struct Kernel {
  NativeKernel native = nullptr;
  int64_t extent = 0; ///< as in executable.proto
  uint64_t costs = 0; ///< flops and bytes, per element of a dynamic dimension
  std::unique_ptr<LibraryKernel> library;
};

/// Waking threads and waiting for them costs as much as some 10 us of work.
constexpr uint64_t kWorthSpreading = 64 << 10;

class CpuQueue : public Queue {
public:
  CpuQueue(const std::vector<Kernel> &kernels, int threads) : kernels(kernels), threads(threads) {}

  Status makeCalls() {
    calls.resize(kernels.size());
    for (size_t i = 0; i < kernels.size(); ++i)
      if (kernels[i].library)
        ZERO_RT_TRY(kernels[i].library->makeCall(calls[i]));
    return {};
  }

  Status launch(uint32_t index, void *const *args, int64_t length) override {
    if (calls[index])
      return calls[index]->run(args);
    runNative(kernels[index], args, length, nullptr);
    return {};
  }

  Status launchChecked(uint32_t index, void *const *args, int64_t length,
                       FiniteCheck &check) override {
    // Only iterations of the kernel that may run in any order can be interleaved with the check.
    if (!calls[index] && kernels[index].extent > 0) {
      runNative(kernels[index], args, length, &check);
      return {};
    }
    check.look(0, check.size());
    return launch(index, args, length);
  }

  Status copy(void *destination, const void *source, uint64_t bytes, CopyKind) override {
    if (bytes > 0)
      std::memmove(destination, source, bytes);
    return {};
  }

  // The host sees the arena itself.
  Status open(Arena &arena, std::span<Window> windows) override {
    for (Window &window : windows)
      window.host = arena.base() + window.offset;
    return {};
  }
  Status push(uint32_t) override { return {}; }
  Status pull(uint32_t) override { return {}; }
  Status await(uint32_t) override { return {}; }

private:
  void runNative(const Kernel &kernel, void *const *args, int64_t length,
                 FiniteCheck *check) const {
    const int64_t iterations = kernel.extent > 1 ? kernel.extent : length;
    const uint64_t costs = kernel.costs * uint64_t(std::max<int64_t>(length, 1));
    const bool spreads = threads > 1 && kernel.extent > 0 && costs >= kWorthSpreading;
    if (spreads || (check && iterations > 0))
      spread(kernel.native, args, iterations, spreads ? threads : 1, check);
    else
      kernel.native(args, 0, iterations);
  }

  const std::vector<Kernel> &kernels;
  int threads;
  std::vector<std::unique_ptr<LibraryCall>> calls;
};

class CpuDevice : public Device {
public:
  explicit CpuDevice(std::shared_ptr<Module> module) : module(std::move(module)) {}

  Status reserve(int, proto::Tier tier, uint64_t bytes, bool guarded,
                 std::unique_ptr<Arena> &arena) override {
    // Disks and links then never wait for pages.
    return reserveHostMemory(bytes, guarded, /*resident=*/tier == proto::HOST, arena);
  }
  Status prepare(const proto::Program &program, int threads) override;
  Status makeQueue(int rank, std::unique_ptr<Queue> &queue) override;
  Status makeHostQueue(int rank, std::unique_ptr<Queue> &queue) override {
    return makeQueue(rank, queue);
  }

private:
  std::shared_ptr<Module> module;
  std::vector<Kernel> kernels;
  int threads = 1;
};

} // namespace

static Status prepareLibrary(const proto::Kernel &source, int threads, Kernel &kernel) {
  const std::string name = escape(source.name());
  if (Status made = makeLibraryKernel(source, threads, kernel.library); !made.ok())
    return fail(made.getCode(), "kernel '%s': %s", name.c_str(), made.getMessage().c_str());
  const std::string remedy =
      threads == 1 ? "compile the model here"
                   : "compile it here with --threads-per-rank=" + std::to_string(threads);
  if (uint64_t needed = kernel.library->getWorkspace(); needed > source.workspace())
    return fail(ZERO_RT_UNSUPPORTED,
                "kernel '%s': it needs %llu bytes of workspace on this machine with %d thread%s "
                "per rank, the plan has %llu; %s",
                name.c_str(), static_cast<unsigned long long>(needed), threads,
                threads == 1 ? "" : "s", static_cast<unsigned long long>(source.workspace()),
                remedy.c_str());
  return {};
}

Status CpuDevice::prepare(const proto::Program &program, int wanted) {
  threads = wanted;
  kernels.resize(program.kernels_size());
  for (int i = 0; i < program.kernels_size(); ++i) {
    const proto::Kernel &source = program.kernels(i);
    if (program.target() != proto::CPU && !source.has_symbol())
      continue; // a kernel of the GPU
    if (source.body_case() != proto::Kernel::kSymbol) {
      ZERO_RT_TRY(prepareLibrary(source, threads, kernels[i]));
      continue;
    }
    kernels[i].native = module->find(source.symbol());
    kernels[i].extent = static_cast<int64_t>(source.extent());
    kernels[i].costs = source.flops() + source.bytes();
  }
  return {};
}

void prepareTeam(int threads) {
  omp_set_num_threads(threads);
  flushDenormals();
  if (threads > 1) // each thread of the team has its own control register
    runOnTeam([](void *) { flushDenormals(); }, nullptr, threads);
}

Status CpuDevice::makeQueue(int, std::unique_ptr<Queue> &queue) {
  prepareTeam(threads);
  auto made = std::make_unique<CpuQueue>(kernels, threads);
  ZERO_RT_TRY(made->makeCalls());
  queue = std::move(made);
  return {};
}

std::unique_ptr<Device> makeCpuDevice(std::shared_ptr<Module> module) {
  return std::make_unique<CpuDevice>(std::move(module));
}

} // namespace zero::rt
