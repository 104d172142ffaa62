//===- driver.h - load the CUDA driver --------------------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CUDA_DRIVER_H
#define RUNTIME_DEVICE_CUDA_DRIVER_H

#include "runtime/device/cuda/driver_api.h"
#include "runtime/support/dynamic_library.h"

#include <atomic>
#include <memory>

namespace zero::rt::cuda {

/// The functions of the driver. Made once per session and shared.
class Driver {
public:
  /// Finds and initializes the driver. Its library is libcuda.so.1, or the library that the
  /// variable ZERO_CUDA_DRIVER names. Fails if there is none, if its initialization fails, or if it
  /// finds no device. Each error says what was tried and how to fix it.
  static Status open(std::shared_ptr<const Driver> &driver);

  int devices() const { return deviceCount; }
  int version() const { return driverVersion; } ///< 13000: CUDA 13.0
  /// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
  std::string describe(Result result) const;
  /// A failure of `call`, unless it was none.
  Status check(Result result, const char *call) const;

  /// Whether a rank has given up to wait for its GPU. The driver completes all kernels before it
  /// frees memory, code or a context. Beside a kernel that does not end this takes for ever, also
  /// on other GPUs, which may access the memory. So all is left to the end of the process.
  bool isStuck() const { return stuck > 0; }
  void countStuck(int change) const { stuck += change; }

#define ZERO_RT_DECLARE(name, exported, parameters) Result(*name) parameters = nullptr;
  ZERO_RT_CUDA_DRIVER(ZERO_RT_DECLARE)
#undef ZERO_RT_DECLARE

private:
  Status initialise();
  DynamicLibrary library;
  int deviceCount = 0, driverVersion = 0;
  mutable std::atomic<int> stuck = 0; ///< ranks
};

/// Returns from the enclosing function unless `driver` carries out the call.
#define ZERO_RT_CUDA(driver, name, ...)                                                            \
  ZERO_RT_TRY((driver).check((driver).name(__VA_ARGS__), #name))

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_DRIVER_H
