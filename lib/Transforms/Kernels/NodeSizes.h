//===- NodeSizes.h - limits of tensor sizes ---------------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_KERNELS_NODESIZES_H
#define LIB_TRANSFORMS_KERNELS_NODESIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// Fails, naming the node, if the result of a node takes more than 1 TiB. Import checks the values
/// of the model, but composites and gradients create more tensors, and sums over tensors rely on
/// this limit.
llvm::LogicalResult checkNodeSizes(mlir::func::FuncOp step);

} // namespace zero

#endif // LIB_TRANSFORMS_KERNELS_NODESIZES_H
