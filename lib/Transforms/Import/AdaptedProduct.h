//===- AdaptedProduct.h - products that get an adapter ----------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_IMPORT_ADAPTEDPRODUCT_H
#define LIB_TRANSFORMS_IMPORT_ADAPTEDPRODUCT_H

#include "dialects/Zero/Zero.h"
#include "zero/Ops/NodeBuilder.h"

namespace zero {

/// A product that gets an adapter: of `x` and a matrix of [outputs, inputs] or its transpose.
struct AdaptedProduct {
  onnx::NodeOp node;
  unsigned matrix; ///< the operand that is the matrix

  mlir::Value x() { return node.getInputs()[1 - matrix]; }
  bool isTransposed(unsigned operand);
  /// The dimension of the matrix that is summed over.
  unsigned inputDim() { return (matrix == 0) ^ isTransposed(matrix); }
  int64_t inputs() { return node.inputType(matrix).getDimSize(inputDim()); }
  int64_t outputs() { return node.inputType(matrix).getDimSize(1 - inputDim()); }

  /// The parameter that has the elements of the matrix, in its order, or that of its transpose if
  /// `isTransposed`. Null if it has them in another order.
  ReadOp source(bool &isTransposed);

  /// Removes what the product adds, and returns it; null if that is nothing.
  mlir::Value takeBias(NodeBuilder &nodes);
  /// The same product of `x`.
  mlir::Value productOf(NodeBuilder &nodes, mlir::Value x);
};

/// The matrices of an adapter, of [size, inputs] and [outputs, size], and the factor of their
/// product.
struct AdapterMatrices {
  mlir::Value a, b;
  double scale;
};

/// The norm of what `product` and its adapter multiply inputs by, for each output (DoRA, Liu et
/// al., arXiv 2402.09353). Gradients do not pass it.
mlir::Value normsOf(NodeBuilder &nodes, AdaptedProduct product, const AdapterMatrices &adapter);

} // namespace zero

#endif // LIB_TRANSFORMS_IMPORT_ADAPTEDPRODUCT_H
