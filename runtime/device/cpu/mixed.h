//===- mixed.h - library kernels with 16-bit arguments ----------*- C++ -*-===//
// Without instructions for bf16, the 16-bit products of oneDNN run at half the speed of f32, and
// there are none of f16, or of two types. So arguments are converted to f32 on input and the result
// to 16 bits, rounded once, on output, block by block in the workspace. The blocks have no gaps,
// and the kernel inside is built for them.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_MIXED_H
#define RUNTIME_DEVICE_CPU_MIXED_H

#include "runtime/device/cpu/library.h"
#include "runtime/device/cpu/mixed_plan.h"

namespace zero::rt {

/// Whether not all arguments of `kernel` are stored as f32.
bool isMixed(const proto::Kernel &kernel);

/// A product or convolution whose arguments are stored as Kernel.stored says. The
/// workspace is first the inner kernels', then the copies.
class MixedKernel : public LibraryKernel {
public:
  static Status create(const proto::Kernel &kernel, int threads, ProductLibrary library,
                       std::unique_ptr<MixedKernel> &mixed);

  uint64_t getWorkspace() const override { return innerWorkspace + plan.main.bytes(); }
  Status makeCall(std::unique_ptr<LibraryCall> &call) const override;

private:
  class Call;

  MixedPlan plan;
  std::unique_ptr<LibraryKernel> main, rest;
  uint64_t innerWorkspace = 0;
};

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_MIXED_H
