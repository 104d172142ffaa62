//===- Clip.cpp -----------------------------------------------------------===//
//
// ONNX Clip from opset 11 on: min(max(x, least), most), both optional scalars.
//
// Gradients: x gets dy where it is strictly within the bounds; a bound gets the sum of dy where it
// is the result. At a bound that is trained, x and the bound share dy, unless {strict_bounds}.
// These are the rules of PyTorch's clamp of numbers and of tensors (docs/reference/numbers.md).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;

namespace zero::ops {

static constexpr unsigned kLeast = 1, kMost = 2;

static LogicalResult lowerClip(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  SmallVector<Value> operands{inputs[0]};
  SmallVector<Combine> steps;
  for (unsigned bound : {kLeast, kMost})
    if (node.hasInput(bound)) {
      operands.push_back(reshaped(b, inputs[bound],
                                  RankedTensorType::get({}, node.inputType(0).getElementType())));
      steps.push_back(forSign(node, 0, bound == kLeast ? Combine::Max : Combine::Min));
    }
  auto body = [&](ImplicitLocOpBuilder &inner, ValueRange x) {
    Value result = x[0];
    for (auto [step, bound] : llvm::zip_equal(steps, x.drop_front()))
      result = combined(inner, step, result, bound);
    return result;
  };
  lowered.results.push_back(elementwise(b, operands, node.outputType(0), body));
  return success();
}

/// The part of `dy` that `x` gets where the result is `x` or `bound`: all inside of the bound, none
/// beyond it, and `atBound` of it where the two are equal.
static Value insidePart(NodeBuilder &b, Value dy, Value x, Value bound, unsigned index,
                        double atBound) {
  Value zero = b.scalar(0, dy.getType());
  Value part = b.where(b.binary(index == kLeast ? op::Greater : op::Less, x, bound), dy, zero);
  if (atBound == 0)
    return part;
  return b.where(b.binary(op::Equal, x, bound), b.mul(dy, b.scalar(atBound, dy.getType())), part);
}

/// From the bound that is applied last: behind the upper bound, the lower one is not seen.
static LogicalResult clipGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  auto isTrained = [&](unsigned index) { return wanted.size() > index && wanted[index]; };
  constexpr double kShare = 0.5;
  const bool shares = isTrained(kLeast) || isTrained(kMost);
  Value x = node.getInputs()[0], grad = dy[0], raised = x;
  if (node.hasInput(kLeast) && node.hasInput(kMost))
    raised = builder.binary(op::Max, x, builder.reshape(node.getInputs()[kLeast], {}));
  for (unsigned index : {kMost, kLeast}) {
    if (!node.hasInput(index))
      continue;
    Value bound = builder.reshape(node.getInputs()[index], {});
    Value from = index == kMost ? raised : x;
    Value inside = insidePart(builder, grad, from, bound, index, shares ? kShare : 0);
    if (isTrained(index)) {
      Value beyond = insidePart(builder, grad, bound, from, index, kShare);
      Value sum = builder.reduceTo(beyond, tensorType(bound));
      grads[index] = builder.reshape(sum, node.inputType(index).getShape());
    }
    grad = inside;
  }
  if (wanted[0])
    grads[0] = grad;
  return success();
}

void registerClip() {
  registerAnySign({{"", "Clip"}, 11, kNewestOpset, Kind::Elementwise, lowerClip, clipGradient});
}

} // namespace zero::ops
