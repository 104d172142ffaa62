//===- Reverse.cpp - reverse mode over the op table -----------------------===//

#include "zero/Ops/Reverse.h"

#include "zero/Ops/OpTable.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace zero {

static bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

bool ReverseMode::lacksRule(onnx::NodeOp node) const {
  const ops::OpDef *def = ops::lookup(node);
  if (def && (def->gradient || def->piecewiseConstant))
    return false;
  return llvm::any_of(node.getInputs(), [&](Value v) { return active.contains(v); });
}

void ReverseMode::propagate(onnx::NodeOp node) {
  auto isActive = [&](Value v) { return active.contains(v); };
  const ops::OpDef *def = ops::lookup(node);
  if (llvm::none_of(node.getInputs(), isActive) || (def && def->piecewiseConstant))
    return;
  // Integers depend on a wanted value only through an operator without a rule, such as BitCast.
  // What is computed from them stays marked, so that visit() refuses it.
  bool throughInteger =
      llvm::any_of(node.getInputs(), [&](Value v) { return isActive(v) && !isFloat(v); });
  bool marksAll = !def || !def->gradient || throughInteger;
  for (auto [index, result] : llvm::enumerate(node.getOutputs()))
    if (marksAll || (isFloat(result) && !(def->constantResults >> index & 1)))
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

/// The error of a node whose derivative is not known.
LogicalResult ReverseMode::refuse(onnx::NodeOp node) {
  InFlightDiagnostic error = node.emitError()
                             << node.describe()
                             << " has no gradient, but the loss depends through it on what is "
                                "trained: expected an operator with a gradient";
  error.attachNote() << "replace the operator, freeze the parameters in front of it, or cut the "
                        "gradient there, as detach() of PyTorch does";
  return error;
}

/// Adds the gradient that the rule of `node` gives for `input`, which is active.
LogicalResult ReverseMode::addTo(Value input, Value gradient, onnx::NodeOp node,
                                 NodeBuilder &nodes) {
  if (gradient && isa<NoneType>(gradient.getType()))
    return success(); // zero
  if (!gradient)
    return node.emitError() << "the gradient rule of " << node.getOpType()
                            << " gives no gradient for an operand of type " << input.getType();
  if (onlyFloatsDiffer(gradient, input))
    gradient = nodes.cast(gradient, tensorType(input).getElementType());
  if (gradient.getType() != input.getType())
    return node.emitError() << "the gradient rule of " << node.getOpType() << " gives "
                            << gradient.getType() << " for an operand of type " << input.getType();
  accumulate(input, gradient);
  return success();
}

static unsigned countUses(Value value) {
  return value ? std::distance(value.use_begin(), value.use_end()) : 0;
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
  auto isActiveInteger = [&](Value v) { return active.contains(v) && !isFloat(v); };
  if (lacksRule(node) || llvm::any_of(node.getInputs(), isActiveInteger))
    return refuse(node);
  SmallVector<Value> inputGrads(wanted.size());
  NodeBuilder nodes(builder, node.getLoc(), node.getNode());
  SmallVector<unsigned> uses = llvm::map_to_vector(outputGrads, countUses);
  if (failed(ops::lookup(node)->gradient(node, outputGrads, wanted, nodes, inputGrads)))
    return failure();
  for (auto [index, gradient] : llvm::enumerate(outputGrads))
    if (gradient && countUses(gradient) == uses[index] && !llvm::is_contained(inputGrads, gradient))
      return node.emitError() << "the loss depends on result #" << index << " of "
                              << node.describe() << ", through which its operator has no gradient";
  for (auto [input, isWanted, gradient] : llvm::zip_equal(node.getInputs(), wanted, inputGrads))
    if (isWanted && failed(addTo(input, gradient, node, nodes)))
      return failure();
  return success();
}

LogicalResult ReverseMode::run(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops)) {
    auto node = dyn_cast<onnx::NodeOp>(op);
    if (node && failed(visit(node)))
      return failure();
    if (!node && llvm::any_of(op->getOperands(), [&](Value v) { return isActive(v); }) &&
        llvm::any_of(op->getResults(), [&](Value v) { return bool(gradientOf(v)); }))
      return op->emitError() << "expected a node between parameters and loss, got '"
                             << op->getName() << "', which has no gradient";
  }
  return success();
}

} // namespace zero
