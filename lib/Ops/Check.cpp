//===- Check.cpp - conditions of a program --------------------------------===//
//
// zero::CheckTrue(x, condition) {message} -> x: stops the step with `message` unless all elements
// of the condition are true. Gradient: that of x is handed on.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace zero::ops {

/// The pair (1, 1) if all elements of `condition` are true, else (0, 0).
static Value flagsOf(ImplicitLocOpBuilder &b, Value condition) {
  Value numbers = elementwise(b, condition, tensorType(condition).clone(b.getI64Type()),
                              [](ImplicitLocOpBuilder &in, ValueRange x) -> Value {
                                return arith::ExtUIOp::create(in, in.getI64Type(), x[0]);
                              });
  auto axes = llvm::to_vector(llvm::seq<int64_t>(tensorType(condition).getRank()));
  Value least = reduce(b, numbers, axes, Combine::Min);
  return elementwise(b, least, RankedTensorType::get({2}, b.getI64Type()),
                     [](ImplicitLocOpBuilder &, ValueRange x) { return x[0]; });
}

static LogicalResult lowerCheckTrue(onnx::NodeOp node, ValueRange inputs, OpBuilder &builder,
                                    Lowered &lowered) {
  ImplicitLocOpBuilder b(node.getLoc(), builder);
  // A copy: every kernel writes its own result.
  lowered.results.push_back(elementwise(b, inputs[0], node.outputType(0),
                                        [](ImplicitLocOpBuilder &, ValueRange x) { return x[0]; }));
  if (node.inputType(1).getNumElements() > 0)
    lowered.checks.push_back(
        {flagsOf(b, inputs[1]), 1, 1, node.getString("message", "a condition is false").str()});
  return success();
}

static LogicalResult gradient(onnx::NodeOp, ValueRange dy, ArrayRef<bool> wanted, NodeBuilder &,
                              MutableArrayRef<Value> grads) {
  if (wanted[0])
    grads[0] = dy[0];
  return success();
}

/// Each part checks the conditions of its own elements.
static Factors checkFactors(onnx::NodeOp node) { return FactorBuilder(node).addBroadcast().take(); }

void registerCheck() {
  registerOp(OpDef{own::CheckTrue, 1, 1, Kind::Other, lowerCheckTrue, gradient}
                 .linearly(Linear::InFirst)
                 .dividedBy(checkFactors));
}

} // namespace zero::ops
