//===- Einsum.h - expand equations into products of two ---------*- C++ -*-===//

#ifndef LIB_OPS_EINSUM_H
#define LIB_OPS_EINSUM_H

#include "zero/Ops/OpTable.h"

namespace zero::ops {

/// Rewrites an Einsum of one operand or of three and more, with an ellipsis, with an index twice in
/// an operand or with a dimension of one that is broadcast, to sums and to Einsums of two operands
/// without any of this. Of those, products whose innermost dimension is one of a batch get it
/// first. Others it leaves alone.
llvm::LogicalResult expandEinsum(onnx::NodeOp node, NodeBuilder &builder,
                                 llvm::SmallVectorImpl<mlir::Value> &results);

} // namespace zero::ops

#endif // LIB_OPS_EINSUM_H
