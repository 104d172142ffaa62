//===- ShareBodies.h - one body for kernels that differ in numbers ----*- C++ -*-===//

#ifndef LIB_CODEGEN_OBJECT_SHAREBODIES_H
#define LIB_CODEGEN_OBJECT_SHAREBODIES_H

#include "IsolateKernel.h"

namespace zero {

/// Text that is equal for kernels which may be able to share a body: `text`, the text of
/// `kernel`, without its numbers. A kernel with a sum in any order shares with no other, because
/// LLVM chooses the order by these numbers.
std::string formOf(mlir::func::FuncOp kernel, llvm::StringRef text);

/// A module with the entry points of `kernels`, `void symbol(void *const *args, int64_t begin,
/// int64_t end)`. They are in the LLVM dialect, each as the function `kernel` of its module.
/// Kernels that differ only in extents, strides and offsets have one body, with these as
/// parameters.
mlir::OwningOpRef<mlir::ModuleOp> shareBodies(llvm::MutableArrayRef<IsolatedKernel> kernels);

} // namespace zero

#endif // LIB_CODEGEN_OBJECT_SHAREBODIES_H
