//===- arena.h - one rank's memory on a GPU ---------------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CUDA_ARENA_H
#define RUNTIME_DEVICE_CUDA_ARENA_H

#include "runtime/device/cuda/gpu.h"
#include "runtime/device/device.h"

namespace zero::rt::cuda {

/// Memory of the host that the GPU copies from and to by itself.
class PinnedMemory {
public:
  PinnedMemory() = default;
  PinnedMemory(const PinnedMemory &) = delete;
  PinnedMemory &operator=(const PinnedMemory &) = delete;
  ~PinnedMemory();
  Status allocate(std::shared_ptr<const Gpu> on, uint64_t count);
  char *get() const { return memory; }
  uint64_t bytes() const { return size; }

private:
  std::shared_ptr<const Gpu> gpu;
  char *memory = nullptr;
  uint64_t size = 0;
};

/// Allocates memory of GPUs in place of the driver.
class GpuAllocator {
public:
  virtual ~GpuAllocator() = default;
  /// On the GPU whose context is current.
  virtual Status allocate(uint64_t bytes, void *&memory) const = 0;
  virtual void release(void *memory) const = 0;
};

/// Reserves `bytes` on `gpu` by one allocation of `allocator`, or of the driver, and the buffers
/// through which read() and write() copy. Any thread may call these while no command runs. Each
/// waits until it is complete, at most `timeoutSeconds` per piece.
Status reserveGpuMemory(std::shared_ptr<const Gpu> gpu, uint64_t bytes, double timeoutSeconds,
                        std::unique_ptr<Arena> &arena,
                        std::shared_ptr<const GpuAllocator> allocator = nullptr);

/// Reserves `bytes` of the host in pinned memory, which `gpu` copies from and to by itself. A disk
/// may access it, too: it starts at a multiple of a page.
Status reservePinnedMemory(std::shared_ptr<const Gpu> gpu, uint64_t bytes,
                           std::unique_ptr<Arena> &arena);

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_ARENA_H
