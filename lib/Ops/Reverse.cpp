//===- Reverse.cpp - reverse mode over the op table -----------------------===//

#include "zero/Ops/Reverse.h"

#include "zero/Ops/OpTable.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace zero {

void ReverseMode::propagate(onnx::NodeOp node) {
  if (llvm::none_of(node.getInputs(), [&](Value v) { return active.contains(v); }))
    return;
  const ops::OpDef *def = ops::lookup(node);
  if (!def || !def->gradient)
    return;
  for (Value result : node.getOutputs())
    if (isa<FloatType>(getElementTypeOrSelf(result.getType())))
      active.insert(result);
}

void ReverseMode::accumulate(Value value, Value gradient) {
  Value &sum = gradients[value];
  sum = sum ? NodeBuilder(builder, gradient.getLoc(), "sum").add(sum, gradient) : gradient;
}

/// Whether `a` and `b` are of one shape and of two types of floats, as where one of
/// them is stored in 16 bits.
static bool onlyFloatsDiffer(Value a, Value b) {
  RankedTensorType ofA = tensorType(a), ofB = tensorType(b);
  return ofA.getShape() == ofB.getShape() && ofA.getElementType() != ofB.getElementType() &&
         isa<FloatType>(ofA.getElementType()) && isa<FloatType>(ofB.getElementType());
}

LogicalResult ReverseMode::visit(onnx::NodeOp node) {
  SmallVector<Value> outputGrads;
  for (Value result : node.getOutputs())
    outputGrads.push_back(active.contains(result) ? gradients.lookup(result) : Value());
  if (llvm::none_of(outputGrads, [](Value v) { return bool(v); }))
    return success();

  SmallVector<bool> wanted;
  for (Value input : node.getInputs())
    wanted.push_back(active.contains(input));
  SmallVector<Value> inputGrads(wanted.size());
  NodeBuilder nodes(builder, node.getLoc(), node.getNode());
  if (failed(ops::lookup(node)->gradient(node, outputGrads, wanted, nodes, inputGrads)))
    return failure();

  for (auto [input, isWanted, gradient] : llvm::zip_equal(node.getInputs(), wanted, inputGrads)) {
    if (!isWanted || !gradient)
      continue;
    if (onlyFloatsDiffer(gradient, input))
      gradient = nodes.cast(gradient, tensorType(input).getElementType());
    if (gradient.getType() != input.getType())
      return node.emitError() << "the gradient rule of " << node.getOpType() << " gives "
                              << gradient.getType() << " for an operand of type "
                              << input.getType();
    accumulate(input, gradient);
  }
  return success();
}

LogicalResult ReverseMode::run(ArrayRef<onnx::NodeOp> nodes) {
  for (onnx::NodeOp node : llvm::reverse(nodes))
    if (failed(visit(node)))
      return failure();
  return success();
}

} // namespace zero
