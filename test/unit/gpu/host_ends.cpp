//===- host_ends.cpp - GPUs' communicators for data of the host -----------===//

#include "host_ends.h"

#include "recording.h"
#include "runtime/comm/device/device_group.h"
#include "runtime/comm/nccl/nccl_group.h"
#include "runtime/device/cuda/arena.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

using namespace zero::rt;
using namespace zero::rt::cuda;

namespace {

constexpr double kTimeout = 60;

/// One end of a group, with memory on its GPU for one call.
class HostEnd : public Communicator {
public:
  HostEnd(std::unique_ptr<Communicator> inner, std::shared_ptr<Lanes> lanes)
      : inner(std::move(inner)), lanes(std::move(lanes)) {}

  int rank() const override { return inner->rank(); }
  const Mesh &mesh() const override { return inner->mesh(); }
  void abort(const Status &reason) override { inner->abort(reason); }
  Traffic traffic() const override { return inner->traffic(); }
  const std::map<AxisSet, uint64_t> &volumes() const override { return inner->volumes(); }
  uint64_t waited() const override { return inner->waited(); }

  Status allGather(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements) override {
    const uint64_t own = elements * sizeOf(dtype), whole = own * membersOf(call);
    return onGpu(source, own, destination, whole, [&](char *from, char *to) {
      return inner->allGather(call, dtype, from, to, elements);
    });
  }

  Status reduceScatter(const Call &call, const Reduction &how, const void *source,
                       void *destination, uint64_t elements) override {
    const uint64_t own = elements * sizeOf(how.dtype), whole = own * membersOf(call);
    return onGpu(source, whole, destination, own, [&](char *from, char *to) {
      return inner->reduceScatter(call, how, from, to, elements);
    });
  }

  Status allReduce(const Call &call, const Reduction &how, void *data, uint64_t elements) override {
    const uint64_t bytes = elements * sizeOf(how.dtype);
    return onGpu(data, bytes, data, bytes,
                 [&](char *, char *to) { return inner->allReduce(call, how, to, elements); });
  }

  Status broadcast(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements, int root) override {
    const uint64_t bytes = elements * sizeOf(dtype);
    return onGpu(source, bytes, destination, bytes, [&](char *from, char *to) {
      return inner->broadcast(call, dtype, from, to, elements, root);
    });
  }

private:
  uint64_t membersOf(const Call &call) const { return uint64_t(mesh().groupSize(call.axes)); }

  /// Calls `body` with the device addresses of source and destination. They overlap on the device
  /// as they do on the host.
  template <typename Body>
  Status onGpu(const void *source, uint64_t sourceBytes, void *destination,
               uint64_t destinationBytes, Body body) {
    const auto *from = static_cast<const char *>(source);
    auto *to = static_cast<char *>(destination);
    auto inside = [](const char *inner, const char *outer, uint64_t bytes) {
      return inner >= outer && inner < outer + bytes;
    };
    int64_t fromAt = 0, toAt = 0;
    if (inside(from, to, destinationBytes))
      fromAt = from - to;
    else if (inside(to, from, sourceBytes))
      toAt = to - from;
    else
      toAt = int64_t((sourceBytes + 255) / 256 * 256);
    const uint64_t bytes =
        std::max(uint64_t(fromAt) + sourceBytes, uint64_t(toAt) + destinationBytes);
    std::unique_ptr<Arena> arena;
    ZERO_RT_TRY(reserveGpuMemory(lanes->sharedGpu(), bytes, kTimeout, arena));
    ZERO_RT_TRY(put(*arena, uint64_t(toAt), to, destinationBytes));
    ZERO_RT_TRY(put(*arena, uint64_t(fromAt), from, sourceBytes));
    Status status = body(arena->base() + fromAt, arena->base() + toAt);
    // Other ranks may still read this memory, even if this call failed.
    ZERO_RT_TRY(lanes->finish());
    if (status.ok())
      status = get(*arena, uint64_t(toAt), to, destinationBytes);
    if (status.ok() && sourceBytes > destinationBytes) // the result of a sum in place
      status = get(*arena, uint64_t(fromAt), const_cast<char *>(from), sourceBytes);
    used.push_back(std::move(arena));
    return status;
  }

  static Status put(Arena &arena, uint64_t offset, const char *from, uint64_t bytes) {
    return arena.write(offset, bytes, [&](char *piece, uint64_t done, uint64_t count) {
      std::memcpy(piece, from + done, count);
      return Status();
    });
  }
  static Status get(const Arena &arena, uint64_t offset, char *to, uint64_t bytes) {
    return arena.read(offset, bytes, [&](const char *piece, uint64_t done, uint64_t count) {
      std::memcpy(to + done, piece, count);
      return Status();
    });
  }

  std::unique_ptr<Communicator> inner;
  std::shared_ptr<Lanes> lanes;
  std::vector<std::unique_ptr<Arena>> used; ///< in use until all ends are idle
};

void expectOk(const Status &status) { EXPECT_TRUE(status.ok()) << status.getMessage(); }

/// test/gpu/run sets this variable to request the GPU of the machine.
bool isRealGpu() { return std::getenv("ZERO_TEST_GPU") != nullptr; }

std::vector<std::shared_ptr<Lanes>> makeLanes(int ranks, bool shared) {
  if (!isRealGpu())
    ::setenv("ZERO_CUDA_DRIVER", ZERO_RECORDING_CUDA, 1);
  std::shared_ptr<const Driver> driver;
  expectOk(Driver::open(driver));
  std::vector<std::shared_ptr<Lanes>> lanes;
  std::shared_ptr<const Gpu> gpu;
  const uint32_t lane = 1;
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == 0 || !shared)
      expectOk(Gpu::open(driver, shared ? 0 : rank, gpu));
    expectOk(Lanes::create(gpu, {&lane, 1}, kTimeout, lanes.emplace_back()));
  }
  return lanes;
}

} // namespace

using MakeGroup = Status(const GroupOptions &, const std::vector<std::shared_ptr<Lanes>> &,
                         std::vector<std::unique_ptr<Communicator>> &);

static std::vector<std::unique_ptr<Communicator>> makeGroup(const GroupOptions &options,
                                                            bool shared, MakeGroup *make) {
  static uint64_t seed = 0;
  recording::reset({.seed = ++seed, .devices = shared ? 1 : options.ranks});
  const auto lanes = makeLanes(options.ranks, shared);
  std::vector<std::unique_ptr<Communicator>> inner, ends;
  expectOk(make(options, lanes, inner));
  for (size_t rank = 0; rank < inner.size(); ++rank)
    ends.push_back(std::make_unique<HostEnd>(std::move(inner[rank]), lanes[rank]));
  return ends;
}

std::vector<std::unique_ptr<Communicator>> makeSharedGpuGroup(const GroupOptions &options) {
  return makeGroup(options, true, makeDeviceGroup);
}

std::vector<std::unique_ptr<Communicator>> makeNcclGpuGroup(const GroupOptions &options) {
  ::setenv("ZERO_NCCL", ZERO_RECORDING_CUDA, 1);
  return makeGroup(options, false, makeNcclGroup);
}
