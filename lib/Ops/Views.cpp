//===- Views.cpp - same elements, other shape -----------------------------===//
//
// ONNX: Reshape, Flatten, Identity, Squeeze, Unsqueeze.
// Result types are static, so the shape and axes operands are not looked at.
// Gradient: the same elements in the operand's shape.
//
// zero::StopGradient(x) is x, and passes no gradient: PyTorch's detach(), JAX's stop_gradient().
// zero::FirstGradient(x) is x, which has no gradient: a gradient whose formula is exact, but not
// that of its derivative. It is an error to differentiate it.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;

namespace zero::ops {

static LogicalResult lowerView(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                               Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(reshaped(b, inputs.front(), node.outputType(0)));
  return success();
}

static LogicalResult viewGradient(onnx::NodeOp node, ValueRange outputGrads, ArrayRef<bool> wanted,
                                  NodeBuilder &builder, MutableArrayRef<Value> inputGrads) {
  if (wanted.front() && outputGrads.front())
    inputGrads.front() = builder.reshape(outputGrads.front(), node.inputType(0).getShape());
  return success();
}

/// A Reshape: shapes are static, so a view needs neither axes nor a computed shape. One that allows
/// zeros is kept.
static LogicalResult viewPlainly(onnx::NodeOp node, NodeBuilder &nodes,
                                 SmallVectorImpl<Value> &results) {
  if (node.getInt("allowzero", 0) != 1)
    results.push_back(nodes.reshape(node.getInputs()[0], node.outputType(0).getShape()));
  return success();
}

void registerViews() {
  auto add = [](onnx::Operator type, ExpandFn plain) {
    registerAnySign(OpDef{type, 7, kNewestOpset, Kind::View, lowerView, viewGradient}
                        .writtenBy(plain)
                        .evaluatedBy({.same = true}));
  };
  for (onnx::Operator type : {op::Reshape, op::Flatten, op::Squeeze, op::Unsqueeze})
    add(type, viewPlainly);
  add(op::Identity, /*plain=*/nullptr);
  registerAnySign(OpDef{own::StopGradient, 1, 1, Kind::View, lowerView}.piecewise());
  registerAnySign({own::FirstGradient, 1, 1, Kind::View, lowerView});
}

} // namespace zero::ops
