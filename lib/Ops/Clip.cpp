//===- Clip.cpp -----------------------------------------------------------===//
//
// ONNX Clip from opset 11 on: min(max(x, least), most), both optional scalars.
//
// Gradients: x gets dy where it is within the bounds, which belong to it (as
// torch.clamp has it); a bound gets the sum of dy where it is the result.
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

/// Whether the elements of x exceed bound `index`, as booleans; null without the bound.
static Value isBeyond(onnx::NodeOp node, NodeBuilder &builder, unsigned index) {
  if (!node.hasInput(index))
    return nullptr;
  Value scalar = builder.reshape(node.getInputs()[index], {});
  return builder.binary(index == kLeast ? op::Less : op::Greater, node.getInputs()[0], scalar);
}

static LogicalResult clipGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Value zero = builder.scalar(0, dy[0].getType());
  Value below = isBeyond(node, builder, kLeast), above = isBeyond(node, builder, kMost);
  if (wanted[0]) {
    grads[0] = dy[0];
    for (Value beyond : {below, above})
      if (beyond)
        grads[0] = builder.where(beyond, zero, grads[0]);
  }
  auto sumWhere = [&](Value condition, unsigned index) {
    Value part = builder.where(condition, dy[0], zero);
    Value sum =
        builder.reduceTo(part, RankedTensorType::get({}, node.inputType(0).getElementType()));
    grads[index] = builder.reshape(sum, node.inputType(index).getShape());
  };
  if (wanted.size() > kLeast && wanted[kLeast]) {
    // The upper bound is applied last: where it holds, the lower one is not seen.
    if (above) {
      Value least = builder.reshape(node.getInputs()[kLeast], {});
      Value most = builder.reshape(node.getInputs()[kMost], {});
      below = builder.binary(op::And, below,
                             builder.unary(op::Not, builder.binary(op::Greater, least, most)));
    }
    sumWhere(below, kLeast);
  }
  if (wanted.size() > kMost && wanted[kMost]) {
    if (below) {
      Value least = builder.reshape(node.getInputs()[kLeast], {});
      Value most = builder.reshape(node.getInputs()[kMost], {});
      above = builder.binary(op::Or, above,
                             builder.binary(op::And, isBeyond(node, builder, kLeast),
                                            builder.binary(op::Greater, least, most)));
    }
    sumWhere(above, kMost);
  }
  return success();
}

void registerClip() {
  registerAnySign({{"", "Clip"}, 11, kNewestOpset, Kind::Elementwise, lowerClip, clipGradient});
}

} // namespace zero::ops
