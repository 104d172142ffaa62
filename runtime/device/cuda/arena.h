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

/// Reserves `bytes` on `gpu` by one allocation, and what read() and write() copy through.
/// These may be called by any thread while no command runs; each waits until it is done,
/// at most `timeoutSeconds` for a piece.
Status reserveGpuMemory(std::shared_ptr<const Gpu> gpu, uint64_t bytes, double timeoutSeconds,
                        std::unique_ptr<Arena> &arena);

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_ARENA_H
