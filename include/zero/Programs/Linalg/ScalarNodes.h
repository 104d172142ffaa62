//===- ScalarNodes.h - operations on elements as nodes ----------*- C++ -*-===//

#ifndef ZERO_PROGRAMS_LINALG_SCALARNODES_H
#define ZERO_PROGRAMS_LINALG_SCALARNODES_H

#include "dialects/Onnx/Operators.h"
#include "zero/Ops/NodeBuilder.h"

namespace zero {

/// What nodes may be used.
enum class Form {
  Onnx,  ///< operators of ONNX, also where they round more than the operation does
  Exact, ///< all operators that compute the same
};

/// Writes operations of arith and math on elements as ONNX nodes on tensors of such elements.
/// Operands broadcast as in NumPy. An index is an i64.
class ScalarNodes {
public:
  ScalarNodes(NodeBuilder &nodes, Form form)
      : nodes(nodes), builder(nodes.getBuilder()), form(form) {}

  /// The value of `op` for `operands`; null if no nodes compute it.
  mlir::Value emit(mlir::Operation *op, mlir::ValueRange operands);
  /// A node whose result has the broadcast shape of `operands`.
  mlir::Value node(onnx::Operator type, mlir::Type element, mlir::ValueRange operands,
                   llvm::ArrayRef<mlir::NamedAttribute> attrs = {});
  /// A constant of rank 0.
  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value integer(int64_t value, mlir::Type element);

private:
  mlir::Value cast(mlir::Operation *op, mlir::Value value);
  mlir::Value compareIntegers(mlir::Operation *op, mlir::Value a, mlir::Value b);
  mlir::Value compareFloats(mlir::Operation *op, mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Operation *op, mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value unsignedOp(mlir::Operation *op, mlir::Value a, mlir::Value b);
  mlir::Value shift(mlir::Operation *op, mlir::Value value, mlir::Value by);
  mlir::Value bitwise(mlir::Operation *op, mlir::Value a, mlir::Value b);
  mlir::Value arithmeticShift(mlir::Value value, mlir::Value by);
  mlir::Value composite(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value function(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value angle(mlir::Value y, mlir::Value x);
  mlir::Value rounded(mlir::Operation *op, mlir::Value x);
  mlir::Value power(mlir::Operation *op, mlir::Value base, mlir::Value exponent);
  mlir::Value ignoringNan(onnx::Operator type, mlir::Value a, mlir::Value b);
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign);
  mlir::Value floorDivide(mlir::Operation *op, mlir::Value a, mlir::Value b);
  mlir::Value sigmoidOf(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value bitCast(mlir::Operation *op, mlir::Value value);
  mlir::Value ordered(mlir::Value value);
  mlir::Value asUnsigned(mlir::Value value);
  mlir::Value invert(mlir::Value value) { return nodes.unary(op::Not, value); }

  NodeBuilder &nodes;
  mlir::OpBuilder &builder;
  Form form;
};

/// The element type of tensors that hold values of `type`, which may be an index.
mlir::Type elementFor(mlir::Type type);

} // namespace zero

#endif // ZERO_PROGRAMS_LINALG_SCALARNODES_H
