//===- ConstantRoles.h - which constants are no parameters ------*- C++ -*-===//

#ifndef ZERO_ANALYSIS_CONSTANTROLES_H
#define ZERO_ANALYSIS_CONSTANTROLES_H

#include "dialects/Onnx/Onnx.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace zero {

/// Whether `name` is one that a framework gives to a tensor of a module
/// ("layer.0.weight"), rather than one that an exporter made up.
bool isModulePath(llvm::StringRef name);

/// What a constant is to the loss that a step function returns.
class ConstantRoles {
public:
  explicit ConstantRoles(mlir::func::FuncOp step);

  /// The first node that uses the constant behind `read` as models use their weights:
  /// in a product or convolution, as a table to gather from, as scale or bias of a
  /// normalization, or added where a bias or a table of positions is; else null.
  onnx::NodeOp weightReader(ReadOp read) const { return flows.lookup(read).reader; }

  /// Whether the loss depends on the value of `op`.
  bool reachesLoss(mlir::Operation *op) const { return live.contains(op); }

  /// Why the constant behind `read` is a buffer rather than a parameter, or
  /// nothing: running statistics, a rotary table or a mask.
  llvm::StringRef bufferReason(ReadOp read) const;

  /// Whether it is running statistics of a BatchNormalization, which forward updates.
  bool isRunningStatistic(ReadOp read) const;

private:
  /// What an operation's operands come from, and where its results go. All of it is
  /// found in two walks, so that a model of many constants costs no more than its size.
  struct Flow {
    /// The one float input or constant with a parameter's name that it depends on.
    mlir::Value source;
    bool isMixed = false; ///< it depends on several
    /// Its results go nowhere but into Cos and Sin, and on the way meet no other
    /// source, or (`isAngleAlone`) none at all.
    bool isAngle = true, isAngleAlone = true;
    /// Its results go nowhere but into the masked operand of a Softmax or Attention.
    bool isMask = true;
    /// The node that uses it as a weight, if there is one.
    onnx::NodeOp reader;
  };

  void walkForward(mlir::Operation &op);
  void walkBackward(mlir::Operation &op);
  bool isClassWeights(ReadOp read) const;
  bool isRotaryTable(ReadOp read) const;
  bool isMask(ReadOp read) const;

  llvm::DenseSet<mlir::Operation *> live;
  llvm::DenseMap<mlir::Operation *, Flow> flows;
};

} // namespace zero

#endif // ZERO_ANALYSIS_CONSTANTROLES_H
