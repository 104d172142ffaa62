//===- gpu.h - one GPU of this machine --------------------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CUDA_GPU_H
#define RUNTIME_DEVICE_CUDA_GPU_H

#include "runtime/device/cuda/driver.h"

namespace zero::rt::cuda {

/// A GPU's primary context, held as long as this object. Shared by the ranks on it.
class Gpu {
public:
  /// `ordinal`: as the driver counts those that are visible.
  static Status open(std::shared_ptr<const Driver> driver, int ordinal,
                     std::shared_ptr<const Gpu> &gpu);
  ~Gpu();

  /// For the calling thread; to be called before anything else on it.
  Status makeCurrent() const {
    return api->check(api->cuCtxSetCurrent(context), "cuCtxSetCurrent");
  }
  /// Makes the context current, unless nothing can be freed: see Driver.
  bool canFree() const { return !api->isStuck() && makeCurrent().ok(); }
  const Driver &driver() const { return *api; }
  int ordinal() const { return number; }
  /// Compute capability times ten: 90.
  int architecture() const { return capability; }
  const std::string &name() const { return title; }
  /// The shared memory that a block has if its kernel asks for it.
  Status mostSharedBytes(int &bytes) const {
    return api->check(api->cuDeviceGetAttribute(&bytes, kMostSharedBytes, device),
                      "cuDeviceGetAttribute");
  }

private:
  Gpu(std::shared_ptr<const Driver> driver, int ordinal)
      : api(std::move(driver)), number(ordinal) {}
  Status retain();

  std::shared_ptr<const Driver> api;
  int number;
  DeviceNumber device = 0;
  Context context = nullptr;
  int capability = 0;
  std::string title;
};

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_GPU_H
