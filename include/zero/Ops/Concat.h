//===- Concat.h - nodes that concatenate and split tensors ------*- C++ -*-===//

#ifndef ZERO_OPS_CONCAT_H
#define ZERO_OPS_CONCAT_H

#include "zero/Ops/NodeBuilder.h"

namespace zero {

/// A Concat of `parts` along `axis`, or a tree of them if there are more parts than one kernel
/// supports.
mlir::Value concatNode(NodeBuilder &builder, llvm::SmallVector<mlir::Value> parts, int64_t axis);

/// Splits `value` along `axis` into parts of `sizes`, or first into groups of them.
llvm::SmallVector<mlir::Value> splitNode(NodeBuilder &builder, mlir::Value value,
                                         llvm::ArrayRef<int64_t> sizes, int64_t axis);

} // namespace zero

#endif // ZERO_OPS_CONCAT_H
