//===- driver.cpp - load the CUDA driver ----------------------------------===//

#include "runtime/device/cuda/driver.h"

namespace zero::rt::cuda {

static const LibrarySource kSource = {
    "the CUDA driver",
    "ZERO_CUDA_DRIVER",
    {"libcuda.so.1", "libcuda.so"},
    "install NVIDIA's driver, run on a machine that has a GPU, compile for the CPU"};

Status Driver::open(std::shared_ptr<const Driver> &driver) {
  auto made = std::make_shared<Driver>();
#define ZERO_RT_SYMBOL(name, exported, parameters)                                                 \
  {exported, reinterpret_cast<void **>(&made->name)},
  const LibrarySymbol symbols[] = {ZERO_RT_CUDA_DRIVER(ZERO_RT_SYMBOL)};
#undef ZERO_RT_SYMBOL
  ZERO_RT_TRY(DynamicLibrary::open(kSource, symbols, made->library));
  ZERO_RT_TRY(made->initialise());
  driver = std::move(made);
  return {};
}

Status Driver::initialise() {
  const std::string name = escape(library.name());
  const Result started = cuInit(0);
  if (started == kStubLibrary)
    return fail(ZERO_RT_NOT_FOUND,
                "'%s' is the toolkit's stub of the CUDA driver, which runs nothing: install "
                "NVIDIA's driver",
                name.c_str());
  if (started == kSuccess && cuDeviceGetCount(&deviceCount) == kSuccess && deviceCount > 0)
    return check(cuDriverGetVersion(&driverVersion), "cuDriverGetVersion");
  if (started != kSuccess && started != kNoDevice)
    return fail(ZERO_RT_UNSUPPORTED, "the CUDA driver ('%s') does not start: %s", name.c_str(),
                describe(started).c_str());
  return fail(ZERO_RT_NOT_FOUND,
              "the CUDA driver ('%s') finds no GPU: see whether nvidia-smi lists one and "
              "CUDA_VISIBLE_DEVICES hides none, or compile for the CPU",
              name.c_str());
}

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != kSuccess || !name)
    return format("error %d", result);
  if (cuGetErrorString(result, &text) != kSuccess || !text)
    return name;
  return format("%s (%s)", name, text);
}

Status Driver::check(Result result, const char *call) const {
  if (result == kSuccess)
    return {};
  return fail(result == kOutOfMemory ? ZERO_RT_IO : ZERO_RT_INTERNAL, "%s: %s", call,
              describe(result).c_str());
}

} // namespace zero::rt::cuda
