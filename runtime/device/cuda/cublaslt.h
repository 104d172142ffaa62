//===- cublaslt.h - load cuBLASLt -------------------------------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CUDA_CUBLASLT_H
#define RUNTIME_DEVICE_CUDA_CUBLASLT_H

#include "runtime/device/cuda/cublaslt_api.h"
#include "runtime/support/dynamic_library.h"

#include <memory>

namespace zero::rt::cuda {

/// The functions of cuBLASLt.
class BlasLibrary {
public:
  /// Finds libcublasLt.so.13, .12, or what the variable ZERO_CUBLASLT names. Fails, saying
  /// what was looked for and what to do.
  static Status open(std::shared_ptr<const BlasLibrary> &library);

  Status check(BlasStatus status, const char *call) const;

#define ZERO_RT_DECLARE(result, name, parameters) result(*name) parameters = nullptr;
  ZERO_RT_CUBLASLT(ZERO_RT_DECLARE)
#undef ZERO_RT_DECLARE

private:
  DynamicLibrary library;
};

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_CUBLASLT_H
