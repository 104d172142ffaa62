//===- gpu.cpp - one GPU of this machine ----------------------------------===//

#include "runtime/device/cuda/gpu.h"

namespace zero::rt::cuda {

Gpu::~Gpu() {
  if (context && !api->isStuck())
    api->cuDevicePrimaryCtxRelease(device);
}

Status Gpu::retain() {
  char text[256] = "";
  int major = 0, minor = 0;
  ZERO_RT_CUDA(*api, cuDeviceGet, &device, number);
  ZERO_RT_CUDA(*api, cuDeviceGetName, text, int(sizeof(text)), device);
  ZERO_RT_CUDA(*api, cuDeviceGetAttribute, &major, kComputeCapabilityMajor, device);
  ZERO_RT_CUDA(*api, cuDeviceGetAttribute, &minor, kComputeCapabilityMinor, device);
  title = text;
  capability = 10 * major + minor;
  return api->check(api->cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
}

Status Gpu::open(std::shared_ptr<const Driver> driver, int ordinal,
                 std::shared_ptr<const Gpu> &gpu) {
  if (ordinal < 0 || ordinal >= driver->devices())
    return fail(ZERO_RT_INVALID_ARGUMENT, "no GPU %d: the driver sees %d, counted from 0", ordinal,
                driver->devices());
  std::shared_ptr<Gpu> made(new Gpu(std::move(driver), ordinal));
  if (Status status = made->retain(); !status.ok())
    return fail(status.getCode(), "GPU %d: %s", ordinal, status.getMessage().c_str());
  gpu = std::move(made);
  return {};
}

} // namespace zero::rt::cuda
