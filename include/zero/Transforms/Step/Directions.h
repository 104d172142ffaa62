//===- Directions.h - what optimizers of matrices begin with ----*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_STEP_DIRECTIONS_H
#define ZERO_TRANSFORMS_STEP_DIRECTIONS_H

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace zero {

/// Adds the kernels that kDirectionAttr names; the last one only with `haveConditions`.
mlir::ArrayAttr buildCollectingKernels(mlir::ModuleOp module, const mlir::SymbolTable &symbols,
                                       bool haveConditions);

/// The first part of the update of a matrix.
struct Direction {
  GradientOp gradient;
  llvm::ArrayRef<mlir::FlatSymbolRefAttr> states; ///< that advance
  mlir::func::FuncOp kernel; ///< (states..., gradient, scalars...) -> (states..., direction)
  llvm::ArrayRef<mlir::Value> scalars;
  mlir::Value condition;      ///< null: always
  mlir::ArrayAttr collecting; ///< see kDirectionAttr
};

/// Adds the launch of the kernel of `direction`; returns the direction, in the gradient's shape.
mlir::Value launchDirection(mlir::OpBuilder &builder, const mlir::SymbolTable &symbols,
                            const Direction &direction);

} // namespace zero

#endif // ZERO_TRANSFORMS_STEP_DIRECTIONS_H
