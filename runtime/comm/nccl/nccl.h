//===- nccl.h - load NCCL ---------------------------------------*- C++ -*-===//

#ifndef RUNTIME_COMM_NCCL_NCCL_H
#define RUNTIME_COMM_NCCL_NCCL_H

#include "runtime/comm/nccl/nccl_api.h"
#include "runtime/device/cuda/arena.h"
#include "runtime/support/dynamic_library.h"

#include <memory>

namespace zero::rt::cuda {

/// The functions of NCCL.
class Nccl : public GpuAllocator {
public:
  /// Opens libnccl.so.2, or the library that the variable ZERO_NCCL names. Fails if it is missing
  /// or older than 2.18; the error says which names were tried and how to fix it.
  static Status open(std::shared_ptr<const Nccl> &nccl);

  /// Whether it allocates and registers memory, which its kernels then access without copies where
  /// the hardware allows that.
  bool hasMemory() const {
    return ncclMemAlloc && ncclMemFree && ncclCommRegister && ncclCommDeregister;
  }
  Status allocate(uint64_t bytes, void *&memory) const override;
  void release(void *memory) const override { ncclMemFree(memory); }

  int version() const { return number; } ///< 22809: 2.28.9
  /// A failure of `call`, with NCCL's own words, unless it was none or is under way.
  Status check(NcclResult result, const char *call, NcclHandle handle = nullptr) const;

#define ZERO_RT_DECLARE(result, name, parameters) result(*name) parameters = nullptr;
  ZERO_RT_NCCL(ZERO_RT_DECLARE)
  ZERO_RT_NCCL_MEMORY(ZERO_RT_DECLARE)
#undef ZERO_RT_DECLARE

private:
  DynamicLibrary library;
  int number = 0;
};

} // namespace zero::rt::cuda

#endif // RUNTIME_COMM_NCCL_NCCL_H
