//===- StepGradients.h - from gradients to what the update takes -*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_STEP_STEPGRADIENTS_H
#define ZERO_TRANSFORMS_STEP_STEPGRADIENTS_H

#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/Zero.h"
#include "zero/Transforms/Step/GradientKernels.h"

namespace zero {

/// `name`, or one like it that `symbols` has not.
std::string freeName(const mlir::SymbolTable &symbols, llvm::StringRef name);

/// Everything from here on runs once a step, after all micro-batches.
template <typename Op>
Op inEpilogue(Op op) {
  setSegment(op, Segment::Epilogue);
  return op;
}

/// Gives every gradient and micro-mean of `step` the kernels that add up
/// `microBatches` of them; gradients become f32. Nothing to do for one.
void accumulateMicroBatches(mlir::ModuleOp module, mlir::func::FuncOp step, uint64_t microBatches);

/// What the updates of a step have in common.
struct GradientFactor {
  mlir::Value factor;                              ///< f32 scalar on every gradient, or null
  mlir::TypedValue<mlir::RankedTensorType> counts; ///< i1: whether the step counts, or null
};

struct GradientFactorOptions {
  double clipNorm = 0;
  bool isScaleFixed = false;
  LossScaleOptions lossScale;
};

/// Appends the global norm of `gradients` with what follows from it, if there is
/// a norm to clip to or a loss scale; and the next loss scale. The step returns
/// "gradient_norm", "loss_scale" and "applied" then.
GradientFactor buildGradientFactor(mlir::ModuleOp module, mlir::func::FuncOp step,
                                   llvm::ArrayRef<GradientOp> gradients,
                                   const GradientFactorOptions &options);

} // namespace zero

#endif // ZERO_TRANSFORMS_STEP_STEPGRADIENTS_H
