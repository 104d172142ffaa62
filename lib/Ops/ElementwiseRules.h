//===- ElementwiseRules.h - rules of functions of elements ------*- C++ -*-===//

#ifndef LIB_OPS_ELEMENTWISERULES_H
#define LIB_OPS_ELEMENTWISERULES_H

#include "Lowering.h"

namespace zero::ops {

/// A result's element from those of the operands.
using ElementFn = mlir::Value (*)(mlir::ImplicitLocOpBuilder &, mlir::ValueRange);

template <ElementFn element>
llvm::LogicalResult lowerFunction(onnx::NodeOp node, mlir::ValueRange inputs,
                                  mlir::OpBuilder &builder, Lowered &lowered) {
  mlir::ImplicitLocOpBuilder b(node.getLoc(), builder);
  lowered.results.push_back(elementwise(b, inputs, node.outputType(0), element));
  return mlir::success();
}

/// One op of upstream's dialects.
template <typename Op>
mlir::Value oneOp(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange x) {
  if constexpr (Op::template hasTrait<mlir::OpTrait::OneOperand>())
    return Op::create(b, x[0]);
  else
    return Op::create(b, x[0], x[1]);
}

/// The gradient of the operand x from x, the result y and its gradient.
using SlopeFn = mlir::Value (*)(NodeBuilder &, mlir::Value x, mlir::Value y, mlir::Value dy);

template <SlopeFn slope>
llvm::LogicalResult functionGradient(onnx::NodeOp node, mlir::ValueRange dy,
                                     llvm::ArrayRef<bool> wanted, NodeBuilder &builder,
                                     llvm::MutableArrayRef<mlir::Value> grads) {
  if (wanted[0])
    grads[0] = slope(builder, node.getInputs()[0], node.getOutputs()[0], dy[0]);
  return mlir::success();
}

} // namespace zero::ops

#endif // LIB_OPS_ELEMENTWISERULES_H
