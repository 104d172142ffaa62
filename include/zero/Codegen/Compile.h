//===- Compile.h - kernels to a shared object of the host -------*- C++ -*-===//

#ifndef ZERO_CODEGEN_COMPILE_H
#define ZERO_CODEGEN_COMPILE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace zero {

/// How to compile; never changes the bytes that come out.
struct CompileOptions {
  unsigned threads = 1;
  std::string cacheFolder; ///< of object code, made if need be; empty: none
};

/// Machine code of all native kernels of a module.
struct CompiledKernels {
  /// The bytes of an ELF shared object, to be mapped with dlopen. Besides memcpy,
  /// memmove and memset it needs nothing. Empty when there is no kernel.
  std::string object;
  /// For each kernel, in the module's order: its name and, equal for equal code, the symbol
  /// `void symbol(void *const *args, int64_t begin, int64_t end)`.
  std::vector<std::pair<std::string, std::string>> symbols;
  unsigned codes = 0, cached = 0; ///< different kernels, and those that came from the cache
};

/// Compiles the native kernels of `module`, which went through
/// zero-bufferize-kernels, for this machine. The module stays as it is. Fails
/// after an error that names the kernel or the linker's complaint; a cache that cannot
/// be used is a warning.
mlir::FailureOr<CompiledKernels> compileKernels(mlir::ModuleOp module,
                                                const CompileOptions &options);

/// The processor features that the code of compileKernels needs, LLVM's names
/// separated by spaces: those of the highest x86-64 psABI level of this machine.
std::string hostIsa();

/// Where object code is kept unless somebody says where: `zero` in $XDG_CACHE_HOME or in
/// $HOME/.cache; empty when neither is set.
std::string defaultCacheFolder();

/// The passes of this room in their order: costs, library matching, fusion,
/// bufferization. What follows is compileKernels. `threadsPerRank` is how many threads
/// scratch memory is planned for.
void buildCodegenPipeline(mlir::OpPassManager &manager, unsigned threadsPerRank = 1);

/// The same for kernels on a GPU; what follows is compileGpuKernels. `simulated`: the host runs
/// what a GPU's threads would, one after the other, and compileKernels follows.
void buildGpuCodegenPipeline(mlir::OpPassManager &manager, bool simulated);

} // namespace zero

#endif // ZERO_CODEGEN_COMPILE_H
