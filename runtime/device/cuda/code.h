//===- code.h - a program's kernels on a GPU --------------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CUDA_CODE_H
#define RUNTIME_DEVICE_CUDA_CODE_H

#include "runtime/device/cuda/gpu.h"
#include "runtime/format/format.h"

#include <optional>
#include <vector>

namespace zero::rt::cuda {

/// A module of one GPU.
class GpuModule {
public:
  /// `image`: PTX that ends with a NUL, or a cubin. What the driver's assembler
  /// complains about is part of the error.
  static Status load(const std::shared_ptr<const Gpu> &gpu, const void *image,
                     std::unique_ptr<GpuModule> &module);
  ~GpuModule();
  Status find(const std::string &symbol, Function &function) const;
  /// Lets launches of `function` have so much dynamic shared memory.
  Status allowShared(Function function, uint32_t bytes) const;
  const Gpu &on() const { return *gpu; }

private:
  explicit GpuModule(std::shared_ptr<const Gpu> gpu) : gpu(std::move(gpu)) {}
  std::shared_ptr<const Gpu> gpu;
  ModuleHandle handle = nullptr;
};

/// One launch of a kernel.
struct GpuLaunch {
  Function function = nullptr;
  uint64_t blocks = 0; ///< 0: as many as the length needs
  uint64_t perBlock = 0;
  uint32_t threads = 1, sharedBytes = 0;

  uint64_t blocksFor(int64_t length) const {
    return blocks > 0 ? blocks : (uint64_t(length) + perBlock - 1) / perBlock;
  }
};

/// The images that a GPU of `architecture` may run, the best first: machine code of its generation,
/// of the nearest architecture first, then PTX, the newest first. Indices into gpu_images.
std::vector<int> imagesFor(const proto::Program &program, int architecture);

/// Finds or loads the code of all native kernels. `module` remains empty if the program has none.
/// `code`: the code section. An image that the driver does not take is followed by the next one. If
/// the program has no code for this GPU, the error lists the architectures that it has.
Status loadCode(const std::shared_ptr<const Gpu> &gpu, const proto::Program &program,
                std::span<const uint8_t> code, std::unique_ptr<GpuModule> &module);

/// Finds the launches of `kernel`, a native one.
Status findLaunches(const GpuModule &module, const proto::Kernel &kernel,
                    std::vector<GpuLaunch> &launches);

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_CODE_H
