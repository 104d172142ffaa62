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
  /// Opens libcublasLt.so.13, .12, or the library that the variable ZERO_CUBLASLT names. The error
  /// says which names were tried and how to fix it.
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
