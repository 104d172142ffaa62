//===- mixed.h - library kernels with 16-bit arguments ----------*- C++ -*-===//
//
// On CPUs 16 bits save memory, not time: oneDNN's products of them run at half the
// speed of f32. So arguments are converted to f32 on the way in and the result to 16
// bits, rounded once, on the way out, in the workspace. There they lie without gaps,
// and the kernel inside is made for that.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_MIXED_H
#define RUNTIME_DEVICE_CPU_MIXED_H

#include "runtime/device/cpu/library.h"
#include "runtime/support/dtype.h"

#include <array>
#include <vector>

namespace zero::rt {

/// Whether not all arguments of `kernel` are stored as f32.
bool isMixed(const proto::Kernel &kernel);

/// An argument that is stored in 16 bits, and its f32 copy.
struct MixedArgument {
  /// One dimension of the stored elements; copies lie row-major, the first one outermost.
  struct Dim {
    uint64_t count;
    int64_t stride;
  };

  DType stored = ZERO_RT_F32; ///< F32: no copy
  std::vector<Dim> dims;
  bool isRead = true, isWritten = false;
  uint64_t offset = 0; ///< of the copy, bytes into the workspace

  uint64_t elements() const;
};

/// A product or convolution whose arguments are stored as Kernel.stored says. The
/// workspace is first the inner kernel's, then the copies.
class MixedKernel : public LibraryKernel {
public:
  static Status create(const proto::Kernel &kernel, int threads,
                       std::unique_ptr<MixedKernel> &mixed);

  uint64_t getWorkspace() const override { return workspace; }
  Status makeCall(std::unique_ptr<LibraryCall> &call) const override;

private:
  class Call;
  /// A, B, [bias], C, or what a convolution has in their place.
  static constexpr size_t kMostArguments = 4;

  std::unique_ptr<LibraryKernel> inner;
  std::vector<MixedArgument> arguments;
  uint64_t workspace = 0;
};

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_MIXED_H
