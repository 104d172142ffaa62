//===- convolution.h - convolutions through oneDNN --------------*- C++ -*-===//
// The fast convolutions of oneDNN need blocked layouts; the one for plain layouts uses gemm:jit,
// which allocates on every call. So the library chooses its layouts, and plain operands are
// reordered through our workspace. Sizes for which oneDNN has only gemm or its reference
// implementation, groups of a few channels, are not supported: the compiler generates a kernel for
// them.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_CONVOLUTION_H
#define RUNTIME_DEVICE_CPU_CONVOLUTION_H

#include "runtime/device/cpu/library.h"

namespace zero::rt {

/// A convolution, or one of its gradients, ready to run.
class Convolution : public LibraryKernel {
public:
  /// Makes the primitives for `threads` library threads.
  static Status create(const proto::Convolution &desc, const StoredTypes &types, int threads,
                       std::unique_ptr<Convolution> &convolution);
  ~Convolution() override;

  uint64_t getWorkspace() const override;
  Status makeCall(std::unique_ptr<LibraryCall> &call) const override;

private:
  class Call;
  struct State;
  explicit Convolution(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_CONVOLUTION_H
