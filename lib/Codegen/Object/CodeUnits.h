//===- CodeUnits.h - compile kernels one by one -----------------*- C++ -*-===//
//
// Each kernel is compiled alone, under a name that follows from its text: so its code
// depends on nothing else, is the same for any number of threads, and can be kept.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_OBJECT_CODEUNITS_H
#define LIB_CODEGEN_OBJECT_CODEUNITS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
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

/// Kernels with the same code, on its way.
struct CodeUnit {
  std::string name;   ///< of the first kernel that has this code
  std::string symbol; ///< of the code
  std::string key;    ///< in the cache
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Code code;
  std::string error;
};

/// The target for which kernels are compiled.
struct CodeTarget {
  std::string name; ///< for the cache and errors
  /// Makes the LLVM dialect of a unit's module, in which the kernel is called `kernel`.
  llvm::LogicalResult (*lower)(CodeUnit &unit);
  std::function<llvm::Expected<std::unique_ptr<llvm::TargetMachine>>()> machine;
  llvm::Expected<Code> (*emit)(llvm::Module &module, llvm::TargetMachine &machine,
                               llvm::StringRef symbol);
};

/// The code that the kernels of `module` need, each text once. Calls found(kernel, symbol)
/// for every kernel.
std::vector<CodeUnit>
splitKernels(mlir::ModuleOp module, const CodeTarget &target,
             llvm::function_ref<void(mlir::func::FuncOp, llvm::StringRef)> found);

/// Fills in the code of `units`, by so many threads, or from the cache in `cacheFolder`
/// (empty: none). Returns how many were found there; fails after an error at `module`.
llvm::FailureOr<unsigned> compileUnits(mlir::ModuleOp module, llvm::MutableArrayRef<CodeUnit> units,
                                       const CodeTarget &target, unsigned threads,
                                       llvm::StringRef cacheFolder);

} // namespace zero

#endif // LIB_CODEGEN_OBJECT_CODEUNITS_H
