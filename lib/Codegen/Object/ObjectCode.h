//===- ObjectCode.h - compile LLVM IR to machine code -----------*- C++ -*-===//

#ifndef LIB_CODEGEN_OBJECT_OBJECTCODE_H
#define LIB_CODEGEN_OBJECT_OBJECTCODE_H

#include "zero/Codegen/TargetCpu.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace zero {

/// Code generation for `wanted`, without contraction of floating-point operations. Fails if LLVM
/// was built without this target.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> cpuMachine(const CodeMachine &wanted);

/// Optimises `module` and writes an object. Fails when the code would call a function that a
/// runtime need not have.
llvm::Expected<llvm::SmallVector<char, 0>> emitObject(llvm::Module &module,
                                                      llvm::TargetMachine &machine);

/// A copy of `module` after LLVM's O3, without the SLP vectorizer if that breaks the copy; no loop
/// becomes a call but of C's memory functions.
std::unique_ptr<llvm::Module> optimise(const llvm::Module &module, llvm::TargetMachine &machine);

/// Whether `name` is a function of C's math library on doubles that kernels may call:
/// MLIR has polynomials for floats only.
bool isDoubleFunction(llvm::StringRef name);

/// Links objects to a shared object and returns its bytes.
llvm::Expected<std::string> linkShared(llvm::ArrayRef<llvm::ArrayRef<char>> objects);

} // namespace zero

#endif // LIB_CODEGEN_OBJECT_OBJECTCODE_H
