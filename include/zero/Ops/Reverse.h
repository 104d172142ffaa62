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
  /// Marks the results of `node` that depend on a wanted value. Results of piecewise constant
  /// operators do not, nor do integers that a gradient rule treats as positions or conditions. To
  /// be called in program order.
  void propagate(onnx::NodeOp node);
  /// Whether a wanted value reaches `node`, and its operator has neither a gradient rule nor
  /// derivative zero.
  bool lacksRule(onnx::NodeOp node) const;
  bool isActive(mlir::Value value) const { return active.contains(value); }

  /// Adds `gradient` to the gradient of `value`, after the summands so far.
  void accumulate(mlir::Value value, mlir::Value gradient);
  /// Visits `ops`, given in program order, backwards. Each active operand of a node whose result
  /// has a gradient gets one, or the rule says that it is zero. Fails after an error at the node
  /// that lacks a rule, or whose rule failed, omitted an operand or gave a wrong type, and at an op
  /// of another dialect whose result has a gradient.
  llvm::LogicalResult run(llvm::ArrayRef<mlir::Operation *> ops);

  /// The gradient of `value`, or null.
  mlir::Value gradientOf(mlir::Value value) const { return gradients.lookup(value); }

private:
  llvm::LogicalResult visit(onnx::NodeOp node);
  llvm::LogicalResult refuse(onnx::NodeOp node);
  llvm::LogicalResult addTo(mlir::Value input, mlir::Value gradient, onnx::NodeOp node,
                            NodeBuilder &nodes);

  mlir::OpBuilder &builder;
  llvm::DenseSet<mlir::Value> active;
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;
};

} // namespace zero

#endif // ZERO_OPS_REVERSE_H
