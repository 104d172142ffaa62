//===- Reverse.h - reverse mode over the op table ---------------*- C++ -*-===//

#ifndef ZERO_OPS_REVERSE_H
#define ZERO_OPS_REVERSE_H

#include "zero/Ops/NodeBuilder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace zero {

/// One reverse walk over straight-line nodes. First mark what is differentiated (`activate`), then
/// provide the gradients of results (`accumulate`), then call `run`.
class ReverseMode {
public:
  /// Emits gradient nodes at `builder`'s insertion point.
  explicit ReverseMode(mlir::OpBuilder &builder) : builder(builder) {}

  /// Marks `value` as wanted.
  void activate(mlir::Value value) { active.insert(value); }
  /// Marks the float results of `node` if a wanted value reaches them through a
  /// differentiable operator. To be called in program order.
  void propagate(onnx::NodeOp node);
  bool isActive(mlir::Value value) const { return active.contains(value); }

  /// Adds `gradient` to the gradient of `value`, after the summands so far.
  void accumulate(mlir::Value value, mlir::Value gradient);
  /// Visits `nodes`, given in program order, backwards. Fails after an error at
  /// the node whose gradient rule failed or gave a wrong type.
  llvm::LogicalResult run(llvm::ArrayRef<onnx::NodeOp> nodes);

  /// The gradient of `value`, or null.
  mlir::Value gradientOf(mlir::Value value) const { return gradients.lookup(value); }

private:
  llvm::LogicalResult visit(onnx::NodeOp node);

  mlir::OpBuilder &builder;
  llvm::DenseSet<mlir::Value> active;
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;
};

} // namespace zero

#endif // ZERO_OPS_REVERSE_H
