//===- KernelValues.h - the values inside a kernel --------------*- C++ -*-===//
// The step may store floats in 16 bits, but kernels compute in f32. Operands of a kernel are
// extended, intermediate values stay f32, and results are rounded once.
//===----------------------------------------------------------------------===//

#ifndef ZERO_TRANSFORMS_KERNELS_KERNELVALUES_H
#define ZERO_TRANSFORMS_KERNELS_KERNELVALUES_H

#include "zero/Ops/OpTable.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace zero {

/// On a node whose result is rounded to its stored type immediately, also for users in the same
/// kernel.
inline constexpr llvm::StringLiteral kRoundAttr = "zero.round";

/// Maps values of the step to values of the kernel under construction.
class KernelValues {
public:
  /// `builder` inserts at the end of the kernel's body.
  explicit KernelValues(mlir::OpBuilder &builder) : builder(builder) {}

  void map(mlir::Value outside, mlir::Value inside) { values.map(outside, inside); }
  bool contains(mlir::Value outside) const { return values.contains(outside); }

  /// Lowers `node`, of which all operands are mapped, and maps its results. Fails
  /// after an error at the node.
  llvm::LogicalResult lower(onnx::NodeOp node, ops::Lowered &lowered);
  /// The value of `result` in the kernel, rounded to the type in which the step stores it.
  mlir::Value stored(mlir::Value result);
  /// Moves extensions to the reads of single elements or parts, so that no whole tensor is extended
  /// for them. To be called when the kernel is complete.
  void readNarrow();

private:
  mlir::Value wide(mlir::Value value);
  bool mayMove(onnx::NodeOp node, llvm::MutableArrayRef<mlir::Value> inputs);
  llvm::LogicalResult lowerAs(onnx::NodeOp node, llvm::ArrayRef<mlir::Value> inputs,
                              mlir::TypeRange results, ops::Lowered &lowered);

  mlir::OpBuilder &builder;
  mlir::IRMapping values;
  /// Values of 16 bits and their extensions to f32.
  llvm::MapVector<mlir::Value, mlir::Value> extended;
};

} // namespace zero

#endif // ZERO_TRANSFORMS_KERNELS_KERNELVALUES_H
