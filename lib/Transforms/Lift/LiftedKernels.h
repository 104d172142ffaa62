//===- LiftedKernels.h - kernels of lifted updates --------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_LIFT_LIFTEDKERNELS_H
#define LIB_TRANSFORMS_LIFT_LIFTEDKERNELS_H

#include "UpdateAnalysis.h"

namespace zero {

/// The kernels of `zero.update`.
struct UpdateKernels {
  mlir::func::FuncOp update;
  mlir::ArrayAttr layerwise; ///< null if the update has no ratio of norms
};

/// Builds kernels of updates. Updates with the same formula share them.
class LiftedKernels {
public:
  LiftedKernels(mlir::ModuleOp module, mlir::SymbolTable &symbols)
      : module(module), symbols(symbols), loc(module.getLoc()) {}

  /// The first scalar of each update is the factor that makes a sum over ranks and micro-batches a
  /// mean. Fails after an error at a node that is not computed element by element.
  llvm::FailureOr<UpdateKernels> build(LiftedUpdate &update);
  /// The kernel of the direction of a matrix, see kDirectionAttr.
  llvm::FailureOr<mlir::func::FuncOp> buildDirection(LiftedUpdate &update);

private:
  mlir::func::FuncOp share(mlir::func::FuncOp kernel);
  llvm::FailureOr<mlir::func::FuncOp> buildUpdate(LiftedUpdate &update);
  llvm::FailureOr<mlir::func::FuncOp> buildMeasure(LiftedUpdate &update);
  llvm::FailureOr<mlir::func::FuncOp> buildRatio(LiftedUpdate &update);
  llvm::FailureOr<mlir::func::FuncOp> buildApply(LiftedUpdate &update);

  mlir::ModuleOp module;
  mlir::SymbolTable &symbols;
  mlir::Location loc;
  llvm::SmallVector<mlir::func::FuncOp> made; ///< each with another formula
  mlir::func::FuncOp total;                   ///< sums the blocks of a tensor
};

} // namespace zero

#endif // LIB_TRANSFORMS_LIFT_LIFTEDKERNELS_H
