//===- NodeBuilder.h - build onnx nodes with inferred types -----*- C++ -*-===//
// For gradient rules and expansions: each call emits one onnx.node whose result type follows the
// rules of ONNX.
//===----------------------------------------------------------------------===//

#ifndef ZERO_OPS_NODEBUILDER_H
#define ZERO_OPS_NODEBUILDER_H

#include "dialects/Onnx/Onnx.h"

#include "mlir/IR/Builders.h"

namespace zero {

class NodeBuilder {
public:
  /// Emits at `builder`'s insertion point; nodes are named `name` for messages.
  NodeBuilder(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name)
      : builder(builder), loc(loc), name(name) {}

  /// Any node, with its result types given.
  onnx::NodeOp create(onnx::Operator type, mlir::TypeRange results, mlir::ValueRange inputs,
                      llvm::ArrayRef<mlir::NamedAttribute> attrs = {});

  /// A scalar constant of the element type of `like`, or of f32 if that has 16 bits and would round
  /// it; its users broadcast it.
  mlir::Value scalar(double value, mlir::Type like);
  /// All elements of `type` equal to `value`.
  mlir::Value splat(double value, mlir::RankedTensorType type);
  /// A one-dimensional i64 constant.
  mlir::Value indices(llvm::ArrayRef<int64_t> values);
  mlir::Value none();

  /// Elementwise with NumPy broadcasting. For floats of two types the result has the wider one, but
  /// a constant gets the type of the other operand.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value neg(mlir::Value a);
  mlir::Value unary(onnx::Operator type, mlir::Value a);
  mlir::Value binary(onnx::Operator type, mlir::Value a, mlir::Value b);
  mlir::Value where(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value cast(mlir::Value a, mlir::Type elementType);

  /// Sums `value` over the dimensions along which `type` was broadcast to it, in
  /// `type`'s element type.
  mlir::Value reduceTo(mlir::Value value, mlir::RankedTensorType type);
  /// Sums over `axes`, which are not negative.
  mlir::Value reduceSum(mlir::Value value, llvm::ArrayRef<int64_t> axes, bool keepdims);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value expand(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// The slices of `value` along `axis` that the numbers in `indices` choose, one dimension for
  /// each of theirs.
  mlir::Value gather(mlir::Value value, mlir::Value indices, int64_t axis);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  /// Swaps the last two dimensions.
  mlir::Value transposeLast(mlir::Value value);
  /// ONNX MatMul, with batch broadcasting.
  mlir::Value matmul(mlir::Value a, mlir::Value b);
  mlir::Value softmax(mlir::Value value, int64_t axis);

  /// A scalar that the runtime provides under `binding`, such as kStepNumber: the argument of the
  /// step that is bound to it, added if there is none yet.
  mlir::Value programInput(llvm::StringRef binding, mlir::Type elementType);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() { return loc; }
  mlir::NamedAttribute attr(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute attr(llvm::StringRef name, double value);
  mlir::NamedAttribute attr(llvm::StringRef name, llvm::StringRef value);
  mlir::NamedAttribute attr(llvm::StringRef name, llvm::ArrayRef<int64_t> values);

private:
  mlir::Value sumOver(mlir::Value value, llvm::ArrayRef<int64_t> axes, bool keepdims,
                      mlir::Type element);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  std::string name;
};

/// `value`'s type; every value in a graph is a ranked tensor of static shape.
mlir::RankedTensorType tensorType(mlir::Value value);

} // namespace zero

#endif // ZERO_OPS_NODEBUILDER_H
