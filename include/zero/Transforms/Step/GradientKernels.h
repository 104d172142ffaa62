//===- GradientKernels.h - what happens to gradients before the update -*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_STEP_GRADIENTKERNELS_H
#define ZERO_TRANSFORMS_STEP_GRADIENTKERNELS_H

#include "zero/Optimizers/Kernel.h"

namespace zero {

/// (accumulator of `sum` in place, summand) -> accumulator, over slices of any length:
/// replaced in the first micro-batch, added to in the later ones, the summand times
/// `factor`.
mlir::func::FuncOp buildAccumulate(mlir::ModuleOp module, llvm::StringRef name, mlir::Type sum,
                                   mlir::Type summand, bool isFirst, double factor = 1.0);

/// (tensor<?x64xT>) -> tensor<?xf32>: the sum of squares of each row.
mlir::func::FuncOp buildSquareBlocks(mlir::ModuleOp module, llvm::StringRef name,
                                     mlir::Type element);

/// (tensor<?xT>) -> tensor<f64>: the sum.
mlir::func::FuncOp buildTotal(mlir::ModuleOp module, llvm::StringRef name, mlir::Type element);

/// What a step knows of its gradients before it updates.
struct GradientFactorForm {
  double clipNorm = 0;   ///< 0: as it is
  bool hasScale = false; ///< gradients are those of the loss times a scale
};

/// (sum of squares f64, [scale f32]) -> (norm f32, factor on gradients f32, [whether the
/// step counts i1, the scale again]): the factor takes the scale back and brings the norm down to
/// the largest allowed, min(1, clipNorm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_ does; a
/// step whose norm is not finite does not count.
mlir::func::FuncOp buildGradientFactor(mlir::ModuleOp module, llvm::StringRef name,
                                       const GradientFactorForm &form);

/// How the loss scale follows overflows.
struct LossScaleOptions {
  double min = 1;
  double window = 1000;  ///< steps without overflow until it doubles
  double hysteresis = 1; ///< overflows until it halves
};

/// (whether the step counts i1, scale f32, steps without overflow f32, overflows left
/// f32) -> the next three and (smallest, largest) of a value that is 1 when the scale
/// cannot go down further, i64: dynamic loss scaling as in mixed precision training
/// (Micikevicius et al., arXiv 1710.03740, section 3.2).
mlir::func::FuncOp buildLossScale(mlir::ModuleOp module, llvm::StringRef name,
                                  const LossScaleOptions &options);

} // namespace zero

#endif // ZERO_TRANSFORMS_STEP_GRADIENTKERNELS_H
