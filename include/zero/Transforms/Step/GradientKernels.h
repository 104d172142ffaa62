//===- GradientKernels.h - kernels on gradients before updates --*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_STEP_GRADIENTKERNELS_H
#define ZERO_TRANSFORMS_STEP_GRADIENTKERNELS_H

#include "zero/Optimizers/Kernel.h"

namespace zero {

/// (accumulator of `sum` in place, summand) -> accumulator, over slices of any length:
/// replaced in the first micro-batch, added to in the later ones, the summand times
/// `factor`.
mlir::func::FuncOp buildAccumulate(mlir::ModuleOp module, llvm::StringRef name, mlir::Type sum,
                                   mlir::Type summand, bool isFirst, double factor = 1.0);

/// The same for an accumulator of bf16, with a third operand, the result of buildRoundingKey: sums
/// are computed in f32 and rounded at random. The random bits depend on the sum, the summand and
/// the key, not on where the element is, so no partition changes them.
mlir::func::FuncOp buildRoundedAccumulate(mlir::ModuleOp module, llvm::StringRef name,
                                          mlir::Type summand, bool isFirst);

/// (number of the step i64, part of the batch i64, data-parallel ranks i64) -> tensor<i32>: bits of
/// the step and the micro-batch, the same on all ranks.
mlir::func::FuncOp buildRoundingKey(mlir::ModuleOp module, llvm::StringRef name);

/// (tensor<?x64xT>) -> tensor<?xf32>: the sum of squares of each row.
mlir::func::FuncOp buildSquareBlocks(mlir::ModuleOp module, llvm::StringRef name,
                                     mlir::Type element);

/// (tensor<?xT>) -> tensor<f64>: the sum.
mlir::func::FuncOp buildTotal(mlir::ModuleOp module, llvm::StringRef name, mlir::Type element);

/// The numbers of a chunk, at most.
inline constexpr int64_t kChunkSize = 4096;

/// (tensor<?xi64>, tensor<?xi64>, tensor<?xT>) -> tensor<?xf64>: the sum of each chunk of the
/// numbers. The first operand has the first number of each chunk, the second how many it has, at
/// most kChunkSize. The length of a launch is the number of chunks; there may be more numbers.
mlir::func::FuncOp buildChunkSums(mlir::ModuleOp module, llvm::StringRef name, mlir::Type element);

/// Options of the norm of gradients before the update.
struct GradientFactorForm {
  double clipNorm = 0;   ///< 0: no clipping
  bool hasScale = false; ///< gradients are multiplied by the loss scale
  bool hasShare = false; ///< gradients lack a factor, their share of the mean
  bool skips = false;    ///< a step whose norm is not finite is skipped
};

/// (sum of squares f64, [scale f32], [share f32]) -> (norm f32, factor on gradients f32, [whether
/// the step is applied i1], [the scale again]): the factor removes the scale, applies the share and
/// clips the norm to the maximum, min(1, clipNorm / (norm + 1e-6)), as
/// torch.nn.utils.clip_grad_norm_ does.
mlir::func::FuncOp buildGradientFactor(mlir::ModuleOp module, llvm::StringRef name,
                                       const GradientFactorForm &form);

/// (norm f32, [share f32]) -> (factor on gradients f32): clips a norm that is known already.
mlir::func::FuncOp buildClipFactor(mlir::ModuleOp module, llvm::StringRef name, double clipNorm,
                                   bool hasShare);

/// Options of the dynamic loss scale.
struct LossScaleOptions {
  double min = 1;
  double window = 1000;  ///< steps without overflow after which it doubles
  double hysteresis = 1; ///< overflows after which it halves
};

/// (whether the step is applied i1, scale f32, steps without overflow f32, overflows left f32) ->
/// the next three and the (minimum, maximum) of a value that is 1 if the scale cannot be reduced
/// further, i64: dynamic loss scaling as in mixed precision training (Micikevicius et al., arXiv
/// 1710.03740, section 3.2).
mlir::func::FuncOp buildLossScale(mlir::ModuleOp module, llvm::StringRef name,
                                  const LossScaleOptions &options);

} // namespace zero

#endif // ZERO_TRANSFORMS_STEP_GRADIENTKERNELS_H
