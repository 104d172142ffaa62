//===- Where.cpp - select between two tensors -----------------------------===//
//
// ONNX Where (opset 9, 16): condition ? a : b, NumPy broadcasting of all three.
//
// Gradient: da = condition ? dy : 0, db = condition ? 0 : dy, reduced to shape.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace zero::ops {

static LogicalResult lowerWhere(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  auto body = [](ImplicitLocOpBuilder &inner, ValueRange x) -> Value {
    return arith::SelectOp::create(inner, x[0], x[1], x[2]);
  };
  lowered.results.push_back(elementwise(b, inputs, node.outputType(0), body));
  return success();
}

static LogicalResult whereGradient(onnx::NodeOp node, ValueRange dy, ArrayRef<bool> wanted,
                                   NodeBuilder &builder, MutableArrayRef<Value> grads) {
  Value condition = node.getInputs()[0];
  Value zero = builder.scalar(0, dy[0].getType());
  if (wanted[1])
    grads[1] = builder.reduceTo(builder.where(condition, dy[0], zero), node.inputType(1));
  if (wanted[2])
    grads[2] = builder.reduceTo(builder.where(condition, zero, dy[0]), node.inputType(2));
  return success();
}

void registerWhere() {
  registerAnySign(
      OpDef{op::Where, 9, kNewestOpset, Kind::Elementwise, lowerWhere, whereGradient}
          .linearly(Linear::Together)
          .moves()
          .computing(Function::Select)
          .evaluatedBy({.element = [](evaluate::Element &e) { return e.x[e.x[0] ? 1 : 2]; }}));
}

} // namespace zero::ops
