//===- NodeSizes.h - limits of tensor sizes ---------------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_KERNELS_NODESIZES_H
#define LIB_TRANSFORMS_KERNELS_NODESIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// Fails, naming the node, if the result of a node takes more than 1 TiB. Import
/// checks what the model says; composites and gradients bring tensors of their own,
/// and sums over tensors rely on it.
llvm::LogicalResult checkNodeSizes(mlir::func::FuncOp step);

} // namespace zero

#endif // LIB_TRANSFORMS_KERNELS_NODESIZES_H
