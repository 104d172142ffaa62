//===- Contraction.h - matrix products --------------------------*- C++ -*-===//
//
// MatMul, Gemm and Attention share one product: batches of matrices, each
// operand possibly transposed. As a node it is zero::Contract(a, b) {transA,
// transB}, so that gradients need no Transpose node; as IR it is one
// linalg.generic over a zero fill, with the transposes in its indexing maps.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_OPS_CONTRACTION_H
#define LIB_OPS_CONTRACTION_H

#include "Lowering.h"

namespace zero::ops {

/// The body of every product: elements[2] + elements[0] * elements[1], with the
/// sum's order left to the compiler.
mlir::Value multiplyAdd(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange elements);

/// op(a) op(b) of the last two dimensions, with NumPy broadcasting of those
/// before; both have at least two. op transposes where the flag says so.
mlir::Value contract(mlir::ImplicitLocOpBuilder &b, mlir::Value a, mlir::Value rhs, bool transA,
                     bool transB);

/// The node that `contract` lowers. Where the right operand is one matrix for
/// all rows of an untransposed left one, the left one is folded to a matrix by
/// reshapes around the node: one large product instead of many. The result's
/// elements are `element`, or as those of `a`.
mlir::Value contractNode(NodeBuilder &builder, mlir::Value a, mlir::Value b, bool transA,
                         bool transB, mlir::Type element = {});

/// The gradients of op(a) op(b), in the types of `a` and `b`; null where
/// not wanted.
std::pair<mlir::Value, mlir::Value> contractGradients(NodeBuilder &builder, mlir::Value a,
                                                      mlir::Value b, mlir::Value grad, bool transA,
                                                      bool transB, bool wantA, bool wantB);

} // namespace zero::ops

#endif // LIB_OPS_CONTRACTION_H
