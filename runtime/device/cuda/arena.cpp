//===- arena.cpp - one rank's memory on a GPU -----------------------------===//

#include "runtime/device/cuda/arena.h"

#include "runtime/device/cuda/lanes.h"

#include <algorithm>
#include <cstring>

namespace zero::rt::cuda {

static constexpr uint64_t kStaging = uint64_t(1) << 20;
static constexpr uint64_t kPage = 4096;
static_assert(kStaging % Memory::kPiece == 0);

PinnedMemory::~PinnedMemory() {
  if (memory && gpu->canFree())
    gpu->driver().cuMemFreeHost(memory);
}

Status PinnedMemory::allocate(std::shared_ptr<const Gpu> on, uint64_t count) {
  gpu = std::move(on);
  void *address = nullptr;
  ZERO_RT_TRY(gpu->makeCurrent());
  ZERO_RT_CUDA(gpu->driver(), cuMemHostAlloc, &address, std::max<uint64_t>(count, 1),
               kHostAllocPortable);
  memory = static_cast<char *>(address);
  size = count;
  return {};
}

namespace {
class GpuArena : public Arena {
public:
  GpuArena(std::shared_ptr<const Gpu> gpu, std::shared_ptr<const GpuAllocator> allocator)
      : gpu(std::move(gpu)), allocator(std::move(allocator)) {}
  ~GpuArena() override {
    if (!address || !gpu->canFree())
      return;
    if (allocator)
      allocator->release(base());
    else
      gpu->driver().cuMemFree(address);
  }

  Status reserve(uint64_t bytes, double timeoutSeconds) {
    size = bytes;
    const uint32_t lane = 0;
    ZERO_RT_TRY(gpu->makeCurrent());
    ZERO_RT_TRY(Lanes::create(gpu, {&lane, 1}, timeoutSeconds, lanes));
    ZERO_RT_TRY(staging.allocate(gpu, kStaging));
    const Status status = allocate(std::max<uint64_t>(bytes, 1));
    if (status.ok())
      return {};
    size_t free = 0, total = 0;
    gpu->driver().cuMemGetInfo(&free, &total);
    return fail(ZERO_RT_IO,
                "cannot reserve %llu bytes on GPU %d (%s), which has %llu free of %llu: %s",
                static_cast<unsigned long long>(bytes), gpu->ordinal(), escape(gpu->name()).c_str(),
                static_cast<unsigned long long>(free), static_cast<unsigned long long>(total),
                status.getMessage().c_str());
  }

  char *base() const override { return reinterpret_cast<char *>(address); }
  char *host() const override { return nullptr; }
  uint64_t bytes() const override { return size; }

  Status touch() override {
    ZERO_RT_TRY(gpu->makeCurrent());
    if (size > 0)
      ZERO_RT_CUDA(gpu->driver(), cuMemsetD8Async, address, 0, size, lanes->current());
    return lanes->finish();
  }

private:
  Status allocate(uint64_t bytes) {
    if (!allocator) {
      const Result result = gpu->driver().cuMemAlloc(&address, bytes);
      return result == kSuccess ? Status() : Status(ZERO_RT_IO, gpu->driver().describe(result));
    }
    void *memory = nullptr;
    ZERO_RT_TRY(allocator->allocate(bytes, memory));
    address = reinterpret_cast<Address>(memory);
    return {};
  }

  /// Calls body(staging, done, bytes) for each piece.
  template <typename Body>
  Status forEachPiece(uint64_t bytes, Body body) const {
    ZERO_RT_TRY(gpu->makeCurrent());
    for (uint64_t done = 0; done < bytes; done += kStaging)
      ZERO_RT_TRY(body(staging.get(), done, std::min(kStaging, bytes - done)));
    return {};
  }

  Status readPieces(uint64_t offset, uint64_t bytes, const Piece &use) const override {
    return forEachPiece(bytes, [&](char *piece, uint64_t done, uint64_t count) -> Status {
      ZERO_RT_CUDA(gpu->driver(), cuMemcpyDtoHAsync, piece, address + offset + done, count,
                   lanes->current());
      ZERO_RT_TRY(lanes->finish());
      return use(piece, done, count);
    });
  }

  Status writePieces(uint64_t offset, uint64_t bytes, const Piece &make) override {
    return forEachPiece(bytes, [&](char *piece, uint64_t done, uint64_t count) -> Status {
      ZERO_RT_TRY(make(piece, done, count));
      ZERO_RT_CUDA(gpu->driver(), cuMemcpyHtoDAsync, address + offset + done, piece, count,
                   lanes->current());
      return lanes->finish();
    });
  }

  std::shared_ptr<const Gpu> gpu;
  std::shared_ptr<const GpuAllocator> allocator; ///< nullptr: the driver
  std::shared_ptr<Lanes> lanes;
  PinnedMemory staging;
  Address address = 0;
  uint64_t size = 0;
};

/// The rank's memory of the host.
class PinnedArena : public Arena {
public:
  Status reserve(std::shared_ptr<const Gpu> gpu, uint64_t bytes) {
    size = bytes;
    if (Status status = pinned.allocate(std::move(gpu), bytes + kPage); !status.ok())
      return fail(status.getCode(), "cannot reserve %llu bytes of pinned memory of the host: %s",
                  static_cast<unsigned long long>(bytes), status.getMessage().c_str());
    const auto first = reinterpret_cast<uintptr_t>(pinned.get());
    start = pinned.get() + ((first + kPage - 1) / kPage * kPage - first);
    return {};
  }

  char *base() const override { return start; }
  char *host() const override { return start; }
  uint64_t bytes() const override { return size; }
  Status touch() override {
    std::memset(start, 0, size);
    return {};
  }

private:
  PinnedMemory pinned;
  char *start = nullptr;
  uint64_t size = 0;
};
} // namespace

Status reserveGpuMemory(std::shared_ptr<const Gpu> gpu, uint64_t bytes, double timeoutSeconds,
                        std::unique_ptr<Arena> &arena,
                        std::shared_ptr<const GpuAllocator> allocator) {
  auto made = std::make_unique<GpuArena>(std::move(gpu), std::move(allocator));
  ZERO_RT_TRY(made->reserve(bytes, timeoutSeconds));
  arena = std::move(made);
  return {};
}

Status reservePinnedMemory(std::shared_ptr<const Gpu> gpu, uint64_t bytes,
                           std::unique_ptr<Arena> &arena) {
  auto made = std::make_unique<PinnedArena>();
  ZERO_RT_TRY(made->reserve(std::move(gpu), bytes));
  arena = std::move(made);
  return {};
}

} // namespace zero::rt::cuda
