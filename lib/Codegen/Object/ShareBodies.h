//===- ShareBodies.h - one body for kernels that differ in numbers ----*- C++ -*-===//

#ifndef LIB_CODEGEN_OBJECT_SHAREBODIES_H
#define LIB_CODEGEN_OBJECT_SHAREBODIES_H

#include "IsolateKernel.h"

namespace zero {

/// Text that is equal for kernels which may be able to share a body: the names of the ops of
/// `kernel`. Of sums in any order, LLVM chooses the order by numbers, so that such a kernel has its
/// text, except for the bounds of its outermost loops. These numbers become parameters here, for
/// one kernel as for many: so the order does not depend on the kernels that share.
std::string formOf(IsolatedKernel &kernel);

/// A module with the entry points of `kernels`, `void symbol(void *const *args, int64_t begin,
/// int64_t end)`. They are in the LLVM dialect, each as the function `kernel` of its module.
/// Kernels that differ only in extents, strides and offsets have one body, with these as
/// parameters, and so have those that differ in their bounds.
mlir::OwningOpRef<mlir::ModuleOp> shareBodies(llvm::MutableArrayRef<IsolatedKernel> kernels);

} // namespace zero

#endif // LIB_CODEGEN_OBJECT_SHAREBODIES_H
