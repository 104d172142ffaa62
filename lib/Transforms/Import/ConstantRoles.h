//===- ConstantRoles.h - tell parameters from other constants ---*- C++ -*-===//

#ifndef LIB_TRANSFORMS_IMPORT_CONSTANTROLES_H
#define LIB_TRANSFORMS_IMPORT_CONSTANTROLES_H

#include "dialects/Onnx/Onnx.h"
#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace zero {

/// The role of a constant in the loss that a step function returns.
class ConstantRoles {
public:
  explicit ConstantRoles(mlir::func::FuncOp step);

  /// The first node that uses the constant of `read` as a weight: in a product or convolution, as a
  /// table of a gather, as scale or bias of a normalization, or added where a bias or a table of
  /// positions is added; else null.
  onnx::NodeOp weightReader(ReadOp read) const { return flows.lookup(read).reader; }

  /// Whether the loss depends on the value of `op`.
  bool reachesLoss(mlir::Operation *op) const { return live.contains(op); }

  /// The reason why the constant of `read` is a buffer and not a parameter, or nothing: running
  /// statistics, a rotary table or a mask.
  llvm::StringRef bufferReason(ReadOp read) const;

  /// Whether the constant is running statistics of a BatchNormalization, which forward updates.
  bool isRunningStatistic(ReadOp read) const;

  /// Whether the number of `read` is only used as the numbers of formulas are that are no
  /// parameters: as an exponent, a bound, or an epsilon below a root, a logarithm or a quotient.
  bool isFormulaNumber(ReadOp read) const;

private:
  /// The sources of an operation's operands and the uses of its results. All of them are found in
  /// two walks, so that the cost is linear for models of many constants.
  struct Flow {
    /// The only float input or constant with the name of a parameter that it depends on.
    mlir::Value source;
    bool isMixed = false; ///< it depends on several of them
    /// Its results are only used by Cos and Sin, and the values on the way have no other source, or
    /// (`isAngleAlone`) none at all.
    bool isAngle = true, isAngleAlone = true;
    /// Its results are only used as the masked operand of a Softmax or Attention.
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

#endif // LIB_TRANSFORMS_IMPORT_CONSTANTROLES_H
