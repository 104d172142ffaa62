//===- library.h - library kernels ------------------------------*- C++ -*-===//
//
// A kernel of the executable that is described, not compiled: oneDNN or Eigen
// computes it, or the runtime's own code. Its scratch is asked of the library, planned by the
// compiler and handed in with each call, so that a step allocates nothing.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_LIBRARY_H
#define RUNTIME_DEVICE_CPU_LIBRARY_H

#include "runtime/format/format.h"
#include "runtime/support/dtype.h"
#include "runtime/support/status.h"

#include <memory>

namespace zero::rt {

/// How the arguments of a product or convolution are stored, of those that multiply elements as
/// they are stored.
struct StoredTypes {
  DType operands = ZERO_RT_F32; ///< the two that are multiplied: f32 or bf16
  DType bias = ZERO_RT_F32;
  DType result = ZERO_RT_F32; ///< also of the residual
};

/// The state that one thread needs to run a library kernel. Must not outlive the kernel.
class LibraryCall {
public:
  virtual ~LibraryCall() = default;
  /// `args` as in executable.proto; the workspace, last, is aligned to 64 bytes.
  virtual Status run(void *const *args) = 0;
};

/// A kernel ready to run, shared by all ranks.
class LibraryKernel {
public:
  virtual ~LibraryKernel() = default;
  virtual uint64_t getWorkspace() const = 0;
  virtual Status makeCall(std::unique_ptr<LibraryCall> &call) const = 0;
};

/// What computes products and convolutions.
enum class ProductLibrary { OneDnn, Eigen };
/// oneDNN on x86-64; Eigen elsewhere, where oneDNN has only its reference implementation.
ProductLibrary productLibrary();

/// Creates the kernel that `kernel` describes for `threads` library threads per rank.
Status makeLibraryKernel(const proto::Kernel &kernel, int threads,
                         std::unique_ptr<LibraryKernel> &made,
                         ProductLibrary library = productLibrary());

/// Bytes of workspace that `kernel` needs on this CPU with `threads` library threads
/// per rank. Returns an error message, empty on success.
std::string zero_rt_library_workspace(const proto::Kernel &kernel, uint64_t &bytes,
                                      int threads = 1);

/// The same for any x86-64 CPU: a bound, which does not depend on this machine.
std::string zero_rt_portable_workspace(const proto::Kernel &kernel, uint64_t &bytes,
                                       int threads = 1);

/// The same for any 64-bit ARM CPU, whose products and convolutions are Eigen's: exact, and
/// computed on any machine. An error says what is not supported there.
std::string zero_rt_arm_workspace(const proto::Kernel &kernel, uint64_t &bytes, int threads = 1);

/// A feature that products of bf16 need and this CPU lacks, by LLVM's name; empty: none.
std::string missingForHalves();

/// `bytes` rounded up to the alignment in a workspace.
inline uint64_t alignUp(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_LIBRARY_H
