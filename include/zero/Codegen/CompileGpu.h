//===- CompileGpu.h - kernels to code for GPUs ------------------*- C++ -*-===//

#ifndef ZERO_CODEGEN_COMPILEGPU_H
#define ZERO_CODEGEN_COMPILEGPU_H

#include "runtime/format/executable.pb.h"

#include "mlir/IR/BuiltinOps.h"

namespace zero {

/// On a kernel for a GPU, a unit: it touches 16 bytes at once, so the addresses of all its
/// arguments are multiples of that. Those of others are as their elements need it.
inline constexpr llvm::StringLiteral kAlignedAttr = "zero.aligned";
inline constexpr int64_t kGpuAlignment = 16;

struct GpuCompileOptions {
  unsigned threads = 1;
  std::string cacheFolder;             ///< of PTX, made if need be; empty: none
  std::vector<unsigned> architectures; ///< 80, 90, 100: compute capability times ten
  std::string toolkit;                 ///< folder of ptxas and fatbinary; empty: PTX stays
};

/// Code of all native kernels of a module, for each architecture.
struct CompiledGpuKernels {
  struct Image {
    unsigned architecture;
    rt::proto::GpuImage::Kind kind;
    std::string bytes; ///< PTX ends with a NUL
  };
  std::vector<Image> images;
  /// For each kernel, in the module's order: its name and what it launches.
  std::vector<std::pair<std::string, rt::proto::GpuKernel>> kernels;
  unsigned codes = 0, cached = 0; ///< different kernels, and those that came from the cache
};

/// Compiles the native kernels of `module`, which went through zero-launch-kernels. All
/// architectures share one text but for its header. The module stays as it is. Fails after an
/// error that names the kernel; a cache or an assembler that cannot be used is a warning, and
/// the driver assembles what is left as PTX.
mlir::FailureOr<CompiledGpuKernels> compileGpuKernels(mlir::ModuleOp module,
                                                      const GpuCompileOptions &options);

/// The folder of the CUDA toolkit's ptxas and fatbinary: in $CUDA_HOME, or if that is not
/// set in $PATH, or where the toolkit is installed by default; empty when there are none.
std::string findToolkit();

} // namespace zero

#endif // ZERO_CODEGEN_COMPILEGPU_H
