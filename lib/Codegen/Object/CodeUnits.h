//===- CodeUnits.h - compile kernels in units -------------------*- C++ -*-===//
//
// Kernels that may share code are one unit, every other kernel is one. The code of a unit follows
// from the texts of its kernels: so it is the same for any number of threads, and can be kept.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_OBJECT_CODEUNITS_H
#define LIB_CODEGEN_OBJECT_CODEUNITS_H

#include "IsolateKernel.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <vector>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace zero {

using Code = llvm::SmallVector<char, 0>;

/// Kernels that are compiled together, on their way.
struct CodeUnit {
  std::string name; ///< of the first kernel
  std::string key;  ///< in the cache
  std::vector<IsolatedKernel> kernels;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< of all kernels, in the LLVM dialect
  Code code;
  std::string error;
};

/// The target for which kernels are compiled.
struct CodeTarget {
  std::string name; ///< for the cache and errors
  bool (*takes)(mlir::func::FuncOp kernel);
  /// A text that kernels have in common which may share code.
  std::string (*form)(IsolatedKernel &kernel);
  /// Makes the module of a unit from those of its kernels.
  llvm::LogicalResult (*lower)(CodeUnit &unit);
  std::function<llvm::Expected<std::unique_ptr<llvm::TargetMachine>>()> machine;
  llvm::Expected<Code> (*emit)(llvm::Module &module, llvm::TargetMachine &machine);
};

/// The code that the kernels of `modules` need, each text once. Calls found(kernel, symbol)
/// for every kernel.
std::vector<CodeUnit>
splitKernels(llvm::ArrayRef<mlir::ModuleOp> modules, const CodeTarget &target,
             llvm::function_ref<void(mlir::func::FuncOp, llvm::StringRef)> found);

/// Fills in the code of `units`, by so many threads, or from the cache in `cacheFolder`
/// (empty: none). Returns how many kernels were found there; fails after an error at `module`.
llvm::FailureOr<unsigned> compileUnits(mlir::ModuleOp module, llvm::MutableArrayRef<CodeUnit> units,
                                       const CodeTarget &target, unsigned threads,
                                       llvm::StringRef cacheFolder);

} // namespace zero

#endif // LIB_CODEGEN_OBJECT_CODEUNITS_H
