//===- LooseOps.h - ops of a step that are no nodes -------------*- C++ -*-===//
// A step may have ops of linalg, tensor, arith and math that no node stands for. Each of them
// becomes a kernel of its own.
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_KERNELS_LOOSEOPS_H
#define LIB_TRANSFORMS_KERNELS_LOOSEOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// Whether `op` computes tensors in a dialect that kernels are made of. Constants and reshapes
/// need no kernel, and tensors without elements that are read by such ops belong to these.
bool isLooseOp(mlir::Operation &op);

/// Gives each loose op of `step` its own copy of the tensor that it is computed into, where this is
/// an empty or filled tensor, so that the copy can be part of its kernel.
void separateDestinations(mlir::func::FuncOp step);

/// Whether `op` fills a tensor that one loose op alone is computed into.
bool isPartOfKernel(mlir::Operation &op);

/// The loose op and what moves into its kernel with it, in program order: constants, empty and
/// filled tensors, and scalars.
llvm::SmallVector<mlir::Operation *> collectKernel(mlir::Operation *op);

/// The tensors that ops of a kernel read from outside of it, in order of first use. Fails after an
/// error if they read a scalar that no op of the kernel computes.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
readByKernel(llvm::ArrayRef<mlir::Operation *> kernel);

} // namespace zero

#endif // LIB_TRANSFORMS_KERNELS_LOOSEOPS_H
