//===- Workspace.h - place the temporaries of a kernel ----------*- C++ -*-===//

#ifndef ZERO_CODEGEN_WORKSPACE_H
#define ZERO_CODEGEN_WORKSPACE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// Replaces every memref.alloc of `kernel` by stack memory (at most 64 KiB each,
/// 256 KiB together) or by a slice of a workspace, which becomes the last argument
/// (memref<Nxi8>) and `zero.workspace = N`. Fails after an error when a size is
/// not known or a buffer lives from one iteration of a loop to the next.
llvm::LogicalResult placeTemporaries(mlir::func::FuncOp kernel);

/// The same for a GPU: all temporaries are in the workspace, and each iteration of the loops that
/// threads divide has its own.
llvm::LogicalResult placeGpuTemporaries(mlir::func::FuncOp kernel);

} // namespace zero

#endif // ZERO_CODEGEN_WORKSPACE_H
