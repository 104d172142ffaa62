//===- AdaptedProduct.cpp - products that get an adapter ------------------===//

#include "AdaptedProduct.h"

#include "zero/Ops/AdaptedNorms.h"
#include "zero/Ops/Axes.h"
#include "zero/Ops/Function.h"

using namespace mlir;

namespace zero {

bool AdaptedProduct::isTransposed(unsigned operand) {
  return node.getInt(operand == 0 ? "transA" : "transB", 0) != 0;
}

ReadOp AdaptedProduct::source(bool &isTransposed) {
  Value value = node.getInputs()[matrix];
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  isTransposed = false;
  while (auto mover = value.getDefiningOp<onnx::NodeOp>()) {
    if (ops::computes(mover, ops::Function::Permute)) {
      if (tensorType(value).getShape() != shape || permutationOf(mover) != ArrayRef<int64_t>{1, 0})
        return nullptr;
      isTransposed = !isTransposed;
      shape = mover.inputType(0).getShape();
    }
    value = mover.getInputs().front();
  }
  return value.getDefiningOp<ReadOp>();
}

Value AdaptedProduct::takeBias(NodeBuilder &nodes) {
  if (node.getInputs().size() < 3)
    return {};
  Value bias = node.getInputs()[2];
  node.getInputsMutable().erase(2);
  const double beta = node.getFloat("beta", 1);
  return beta == 1 ? bias : nodes.mul(bias, nodes.scalar(beta, bias.getType()));
}

Value AdaptedProduct::productOf(NodeBuilder &nodes, Value x) {
  IRMapping as;
  as.map(this->x(), nodes.cast(x, tensorType(this->x()).getElementType()));
  return nodes.getBuilder().clone(*node, as)->getResult(0);
}

/// `value` without transposes of it, each of which swaps what `dim` counts from.
static Value beforeTransposes(Value value, unsigned &dim) {
  while (auto node = value.getDefiningOp<onnx::NodeOp>()) {
    if (!ops::computes(node, ops::Function::Permute) ||
        permutationOf(node) != ArrayRef<int64_t>{1, 0})
      break;
    value = node.getInputs().front();
    dim = 1 - dim;
  }
  return value;
}

Value normsOf(NodeBuilder &nodes, AdaptedProduct product, const AdapterMatrices &adapter) {
  unsigned inputDim = product.inputDim();
  Value matrix = beforeTransposes(product.node.getInputs()[product.matrix], inputDim);
  return adaptedNorms(nodes, matrix, inputDim, adapter.a, adapter.b, adapter.scale);
}

} // namespace zero
