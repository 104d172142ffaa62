//===- AdaptedNorms.cpp - norms of adapted weights ------------------------===//

#include "zero/Ops/AdaptedNorms.h"

#include "dialects/Onnx/Operators.h"
#include "dialects/Onnx/OwnOperators.h"

using namespace mlir;

namespace zero {

// Rows of W + s B A have the squares of rows of W, and B (2 s A W^T + s^2 A A^T B^T) on the
// diagonal: no matrix of the size of W is computed.
Value adaptedNorms(NodeBuilder &nodes, Value w, unsigned inputDim, Value a, Value b, double scale) {
  Type element = tensorType(a).getElementType();
  const int64_t size = tensorType(a).getDimSize(0), outputs = tensorType(b).getDimSize(0);
  auto type = [&](ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, element); };
  // Kernels extend what they read of a matrix of 16 bits.
  auto multiply = [&](ArrayRef<int64_t> shape, Value left, Value right) {
    return nodes.create(op::MatMul, type(shape), {left, right}).getResult(0);
  };
  Value squares = nodes
                      .create(op::ReduceSumSquare, type(outputs), {w, nodes.indices(inputDim)},
                              nodes.attr("keepdims", int64_t(0)))
                      .getResult(0);
  Value transposed = nodes.transposeLast(a);
  Value crossed = inputDim == 1 ? multiply({outputs, size}, w, transposed)
                                : nodes.transposeLast(multiply({size, outputs}, a, w));
  Value quadratic = nodes.matmul(b, nodes.matmul(a, transposed));
  Value factors = nodes.add(nodes.mul(crossed, nodes.scalar(2 * scale, type({}))),
                            nodes.mul(quadratic, nodes.scalar(scale * scale, type({}))));
  Value change = nodes.reduceSum(nodes.mul(b, factors), /*axes=*/1, /*keepdims=*/false);
  Value norms = nodes.unary(op::Sqrt, nodes.add(squares, change));
  return nodes.unary(own::StopGradient, norms);
}

} // namespace zero
