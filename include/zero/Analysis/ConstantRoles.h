//===- ConstantRoles.h - which constants are no parameters ------*- C++ -*-===//

#ifndef ZERO_ANALYSIS_CONSTANTROLES_H
#define ZERO_ANALYSIS_CONSTANTROLES_H

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace zero {

/// Whether `name` is one that a framework gives to a tensor of a module
/// ("layer.0.weight"), rather than one that an exporter made up.
bool isModulePath(llvm::StringRef name);

/// What a constant is to the loss that a step function returns.
class ConstantRoles {
public:
  explicit ConstantRoles(mlir::func::FuncOp step);

  /// Whether the loss depends on the value of `op`.
  bool reachesLoss(mlir::Operation *op) const { return live.contains(op); }

  /// Why the constant behind `read` is a buffer rather than a parameter, or
  /// nothing: running statistics, a rotary table or a mask.
  llvm::StringRef bufferReason(ReadOp read) const;

private:
  bool isRunningStatistic(ReadOp read) const;
  bool isClassWeights(ReadOp read) const;
  bool isRotaryTable(ReadOp read) const;
  bool isMask(ReadOp read) const;
  /// Whether `value` depends on a float input or on a constant that may be a
  /// parameter, `except` apart.
  bool dependsOnModel(mlir::Value value, ReadOp except) const;

  llvm::DenseSet<mlir::Operation *> live;
};

} // namespace zero

#endif // ZERO_ANALYSIS_CONSTANTROLES_H
