//===- Compile.h - compile kernels to a shared object -----------*- C++ -*-===//

#ifndef ZERO_CODEGEN_COMPILE_H
#define ZERO_CODEGEN_COMPILE_H

#include "zero/Codegen/TargetCpu.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace zero {

/// Options of compilation; they never change the result.
struct CompileOptions {
  unsigned threads = 1;
  std::string cacheFolder; ///< of object code, created if necessary; empty: none
};

/// Machine code of all native kernels of some modules.
struct CompiledKernels {
  /// The bytes of an ELF shared object for dlopen. It needs only memcpy, memmove and memset. Empty
  /// if there is no kernel.
  std::string object;
  /// For each kernel, in the order of the modules: its symbol `void symbol(void *const *args,
  /// int64_t begin, int64_t end)`. Kernels of equal code have equal symbols.
  std::vector<std::pair<mlir::func::FuncOp, std::string>> symbols;
  unsigned codes = 0, cached = 0; ///< distinct kernels, and those found in the cache
};

/// Compiles the native kernels of `modules` that the host runs, after zero-bufferize-kernels, for
/// the target CPU of all. The modules are unchanged. Fails after an error that names the kernel or
/// has the message of the linker. A cache that cannot be used is a warning.
mlir::FailureOr<CompiledKernels> compileKernels(llvm::ArrayRef<mlir::ModuleOp> modules,
                                                const CompileOptions &options);

/// The passes of lib/Codegen in order: costs, library matching, fusion, bufferization.
/// compileKernels follows. Workspace is planned for `threadsPerRank` threads. `targetCpu` is a name
/// that findTargetCpu knows.
void buildCodegenPipeline(mlir::OpPassManager &manager, unsigned threadsPerRank = 1,
                          llvm::StringRef targetCpu = kNativeCpu);

/// The same for kernels on a GPU; compileGpuKernels follows. With `hostCpu`, a name that
/// findTargetCpu knows, each native kernel also has a clone for the host, which compileKernels
/// compiles.
void buildGpuCodegenPipeline(mlir::OpPassManager &manager, llvm::StringRef hostCpu = "");

} // namespace zero

#endif // ZERO_CODEGEN_COMPILE_H
