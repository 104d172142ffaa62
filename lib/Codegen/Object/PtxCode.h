//===- PtxCode.h - compile LLVM IR to PTX -----------------------*- C++ -*-===//

#ifndef LIB_CODEGEN_OBJECT_PTXCODE_H
#define LIB_CODEGEN_OBJECT_PTXCODE_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace zero {

/// Code generation for GPUs from compute capability 8.0 on, without contraction of
/// floating-point operations. Fails when LLVM was built without this target.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> gpuMachine();

/// Optimises `module` and writes its kernels as PTX without a header: the same text is right
/// for each architecture. Fails when the code would call a function.
llvm::Expected<std::string> emitPtx(llvm::Module &module, llvm::TargetMachine &machine);

/// The lines that PTX for `architecture` (80, 90 or 100) begins with.
std::string ptxHeader(unsigned architecture);

/// The machine code of `ptx` for `architecture`, as a cubin. Fails with the message of the toolkit.
/// `toolkit` is the result of findToolkit.
llvm::Expected<std::string> assemblePtx(llvm::StringRef toolkit, llvm::StringRef ptx,
                                        unsigned architecture);

} // namespace zero

#endif // LIB_CODEGEN_OBJECT_PTXCODE_H
