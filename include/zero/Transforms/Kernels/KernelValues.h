//===- KernelValues.h - the values inside a kernel --------------*- C++ -*-===//
//
// The step may store floats in 16 bits; kernels compute in f32 all the same. What a
// kernel reads is extended, what it computes stays f32 from node to node, and what
// it returns is rounded once.
//
//===----------------------------------------------------------------------===//

#ifndef ZERO_TRANSFORMS_KERNELS_KERNELVALUES_H
#define ZERO_TRANSFORMS_KERNELS_KERNELVALUES_H

#include "zero/Ops/OpTable.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace zero {

/// On a node whose result is rounded to the type in which it is stored where the node
/// stands, whoever uses it in the same kernel.
inline constexpr llvm::StringLiteral kRoundAttr = "zero.round";

/// What stands for the values of the step in the kernel under construction.
class KernelValues {
public:
  /// `builder` stands at the end of the kernel's body.
  explicit KernelValues(mlir::OpBuilder &builder) : builder(builder) {}

  void map(mlir::Value outside, mlir::Value inside) { values.map(outside, inside); }
  bool contains(mlir::Value outside) const { return values.contains(outside); }

  /// Lowers `node`, of which all operands are mapped, and maps its results. Fails
  /// after an error at the node.
  llvm::LogicalResult lower(onnx::NodeOp node, ops::Lowered &lowered);
  /// What stands for `result`, rounded to the type in which the step stores it.
  mlir::Value stored(mlir::Value result);
  /// Moves extensions to where single elements or parts are read, so that no whole
  /// tensor is extended for them. To be called when the kernel is complete.
  void readNarrow();

private:
  mlir::Value wide(mlir::Value value);
  bool mayMove(onnx::NodeOp node, llvm::MutableArrayRef<mlir::Value> inputs);
  llvm::LogicalResult lowerAs(onnx::NodeOp node, llvm::ArrayRef<mlir::Value> inputs,
                              mlir::TypeRange results, ops::Lowered &lowered);

  mlir::OpBuilder &builder;
  mlir::IRMapping values;
  /// Values of 16 bits and what they are in f32.
  llvm::MapVector<mlir::Value, mlir::Value> extended;
};

} // namespace zero

#endif // ZERO_TRANSFORMS_KERNELS_KERNELVALUES_H
