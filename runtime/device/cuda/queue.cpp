//===- queue.cpp - commands of one rank on a GPU --------------------------===//

#include "runtime/device/cuda/queue.h"

#include "runtime/device/cuda/arena.h"

namespace zero::rt::cuda {

/// The limit of a grid's x dimension.
static constexpr uint64_t kMostBlocks = (uint64_t(1) << 31) - 1;
static constexpr uint64_t kWindowAlignment = 64;

static Address addressOf(const void *place) { return reinterpret_cast<Address>(place); }

namespace {
class GpuQueue : public Queue {
public:
  GpuQueue(const GpuKernels &kernels, std::shared_ptr<Lanes> lanes)
      : kernels(kernels.kernels), blas(kernels.blas), lanes(std::move(lanes)) {}

  Status makeCalls() {
    size_t most = 0;
    calls.resize(kernels.size());
    for (size_t i = 0; i < kernels.size(); ++i) {
      most = std::max<size_t>(most, kernels[i].arguments);
      if (kernels[i].product)
        ZERO_RT_TRY(kernels[i].product->makeCall(calls[i]));
    }
    parameters.resize(most + 1);
    return {};
  }

  Status launch(uint32_t index, void *const *args, int64_t length) override {
    lanes->announce(kernels[index].name);
    Status status = run(index, args, length);
    if (status.ok())
      return status;
    status = lanes->causeOf(status);
    return fail(status.getCode(), "kernel '%s': %s", escape(kernels[index].name).c_str(),
                status.getMessage().c_str());
  }

  Status copy(void *destination, const void *source, uint64_t bytes, CopyKind kind) override;

  Status open(Arena &arena, std::span<Window> windows) override;
  Status push(uint32_t index) override;
  Status pull(uint32_t index) override;
  Status await(uint32_t index) override { return lanes->await(shared[index].copied.get()); }
  Status pullAndCall(uint32_t index, void (*look)(void *), void *context) override {
    ZERO_RT_TRY(copyToHost(shared[index]));
    return lanes->call(look, context);
  }

  bool hasLanes() const override { return true; }
  Status makeSignals(uint32_t count) override { return lanes->makeSignals(count); }
  Status begin(const Order &order) override { return lanes->begin(order); }
  Status end(const Order &order) override { return lanes->end(order); }
  Status meet() override { return lanes->meet(); }
  bool hasGraphs() const override { return true; }
  Status beginGraph() override { return lanes->beginGraph(); }
  Status endGraph(std::unique_ptr<Graph> &graph) override { return lanes->endGraph(graph); }
  void dropGraph() override { lanes->dropGraph(); }
  Status run(const Graph &graph) override {
    return lanes->run(static_cast<const GpuGraph &>(graph));
  }
  Status isDone(uint32_t signal, bool &done) override { return lanes->isDone(signal, done); }
  Status look(bool &works) override { return lanes->look(works); }
  bool hasClock() const override { return true; }
  Status makeNotes(size_t count) override { return lanes->makeNotes(count); }
  Status note(size_t index) override { return lanes->note(index); }
  Status secondsBetween(size_t first, size_t second, double &seconds) override {
    return lanes->secondsBetween(first, second, seconds);
  }
  Status finish() override { return lanes->finish(); }

private:
  struct Shared {
    Window window;
    Address place;
    OwnedEvent copied; ///< behind the last copy
  };
  Status copyToHost(const Shared &each);
  Status run(uint32_t index, void *const *args, int64_t length) {
    if (calls[index])
      return calls[index]->run(*blas, args, lanes->current());
    const GpuKernel &kernel = kernels[index];
    return kernel.attention ? kernel.attention->run(args, *lanes)
                            : launchNative(kernel, args, length);
  }
  Status launchNative(const GpuKernel &kernel, void *const *args, int64_t length);

  const std::vector<GpuKernel> &kernels;
  std::shared_ptr<const BlasContext> blas;
  std::shared_ptr<Lanes> lanes;
  std::vector<std::unique_ptr<ProductCall>> calls; ///< by kernel; nullptr: native
  std::vector<void *> parameters;                  ///< of the launch that is made
  std::vector<Shared> shared;
  PinnedMemory pinned;
};
} // namespace

Status GpuQueue::launchNative(const GpuKernel &kernel, void *const *args, int64_t length) {
  for (uint32_t i = 0; i < kernel.arguments; ++i)
    parameters[i] = static_cast<void *>(const_cast<void **>(&args[i]));
  parameters[kernel.arguments] = &length;
  for (const GpuLaunch &launch : kernel.launches) {
    const uint64_t blocks = launch.blocksFor(length);
    if (blocks == 0) // of nothing
      continue;
    if (blocks > kMostBlocks)
      return fail(ZERO_RT_UNSUPPORTED, "%llu blocks of threads are more than a GPU takes",
                  static_cast<unsigned long long>(blocks));
    ZERO_RT_LANES(*lanes, cuLaunchKernel, launch.function, unsigned(blocks), 1, 1, launch.threads,
                  1, 1, launch.sharedBytes, lanes->current(), parameters.data(), nullptr);
  }
  return {};
}

Status GpuQueue::copy(void *destination, const void *source, uint64_t bytes, CopyKind kind) {
  if (bytes == 0 || destination == source)
    return {};
  if (kind == CopyKind::HostToDevice)
    ZERO_RT_LANES(*lanes, cuMemcpyHtoDAsync, addressOf(destination), source, bytes,
                  lanes->current());
  else if (kind == CopyKind::DeviceToHost)
    ZERO_RT_LANES(*lanes, cuMemcpyDtoHAsync, destination, addressOf(source), bytes,
                  lanes->current());
  else
    ZERO_RT_LANES(*lanes, cuMemcpyDtoDAsync, addressOf(destination), addressOf(source), bytes,
                  lanes->current());
  return {};
}

Status GpuQueue::open(Arena &arena, std::span<Window> windows) {
  uint64_t total = 0;
  auto take = [&](uint64_t bytes) {
    const uint64_t place = total;
    total += (bytes + kWindowAlignment - 1) / kWindowAlignment * kWindowAlignment;
    return place;
  };
  std::vector<uint64_t> places;
  for (const Window &window : windows)
    places.push_back(take(window.bytes));
  ZERO_RT_TRY(pinned.allocate(lanes->sharedGpu(), total));
  for (size_t i = 0; i < windows.size(); ++i) {
    windows[i].host = pinned.get() + places[i];
    shared.push_back({windows[i], addressOf(arena.base() + windows[i].offset), {}});
    ZERO_RT_TRY(shared.back().copied.create(lanes->sharedGpu()));
  }
  return {};
}

Status GpuQueue::push(uint32_t index) {
  const Shared &each = shared[index];
  if (each.window.bytes > 0)
    ZERO_RT_LANES(*lanes, cuMemcpyHtoDAsync, each.place, each.window.host, each.window.bytes,
                  lanes->current());
  ZERO_RT_LANES(*lanes, cuEventRecord, each.copied.get(), lanes->current());
  return {};
}

Status GpuQueue::copyToHost(const Shared &each) {
  if (each.window.bytes > 0)
    ZERO_RT_LANES(*lanes, cuMemcpyDtoHAsync, each.window.host, each.place, each.window.bytes,
                  lanes->current());
  return {};
}

Status GpuQueue::pull(uint32_t index) {
  const Shared &each = shared[index];
  ZERO_RT_TRY(copyToHost(each));
  ZERO_RT_LANES(*lanes, cuEventRecord, each.copied.get(), lanes->current());
  return {};
}

Status makeGpuQueue(const GpuKernels &kernels, std::shared_ptr<Lanes> lanes,
                    std::unique_ptr<Queue> &queue) {
  ZERO_RT_TRY(lanes->gpu().makeCurrent());
  auto made = std::make_unique<GpuQueue>(kernels, std::move(lanes));
  ZERO_RT_TRY(made->makeCalls());
  queue = std::move(made);
  return {};
}

} // namespace zero::rt::cuda
