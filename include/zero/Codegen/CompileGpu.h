//===- CompileGpu.h - compile kernels for GPUs ------------------*- C++ -*-===//

#ifndef ZERO_CODEGEN_COMPILEGPU_H
#define ZERO_CODEGEN_COMPILEGPU_H

#include "runtime/format/executable.pb.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace zero {

/// On an argument of a kernel for a GPU, a unit attribute: threads access 16 bytes of it at once,
/// so its address is a multiple of 16. Other arguments need the alignment of their elements.
inline constexpr llvm::StringLiteral kAlignedAttr = "zero.aligned";
inline constexpr int64_t kGpuAlignment = 16;

struct GpuCompileOptions {
  unsigned threads = 1;
  std::string cacheFolder = {};             ///< of PTX, created if necessary; empty: none
  std::vector<unsigned> architectures = {}; ///< 80, 90, 100: compute capability times ten
  std::string toolkit = {};                 ///< directory of ptxas; empty: only PTX
};

/// Code of all native kernels of some modules, for each architecture.
struct CompiledGpuKernels {
  struct Image {
    unsigned architecture;
    rt::proto::GpuImage::Kind kind;
    std::string bytes; ///< PTX ends with a NUL
  };
  std::vector<Image> images;
  /// For each kernel, in the order of the modules: its launches.
  std::vector<std::pair<mlir::func::FuncOp, rt::proto::GpuKernel>> kernels;
  unsigned codes = 0, cached = 0; ///< distinct kernels, and those found in the cache
};

/// Compiles the native kernels of `modules`, after zero-launch-kernels. All architectures share one
/// text except for its header. The modules are unchanged. Fails after an error that names the
/// kernel. A cache or an assembler that cannot be used is a warning; the driver then assembles the
/// PTX.
mlir::FailureOr<CompiledGpuKernels> compileGpuKernels(llvm::ArrayRef<mlir::ModuleOp> modules,
                                                      const GpuCompileOptions &options);

/// The directory of ptxas of the CUDA toolkit: in $CUDA_HOME, or if that is not set
/// in $PATH, or in the default place of the toolkit; empty if there is none.
std::string findToolkit();

} // namespace zero

#endif // ZERO_CODEGEN_COMPILEGPU_H
