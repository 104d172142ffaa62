//===- StepGradients.h - accumulate and clip gradients ----------*- C++ -*-===//

#ifndef ZERO_TRANSFORMS_STEP_STEPGRADIENTS_H
#define ZERO_TRANSFORMS_STEP_STEPGRADIENTS_H

#include "dialects/Zero/Schedule.h"
#include "dialects/Zero/Zero.h"
#include "zero/Transforms/Step/GradPrecision.h"
#include "zero/Transforms/Step/GradientKernels.h"

namespace zero {

/// `name`, or a similar name that `symbols` does not contain.
std::string freeName(const mlir::SymbolTable &symbols, llvm::StringRef name);

/// All ops from here on run once per step, after all micro-batches.
template <typename Op>
Op inEpilogue(Op op) {
  setSegment(op, Segment::Epilogue);
  return op;
}

/// Calls `add`, and moves the ops that it adds at `builder` to the epilogue.
template <typename Add>
void addInEpilogue(mlir::OpBuilder &builder, Add add) {
  mlir::Operation *end = &*builder.getInsertionPoint(), *before = end->getPrevNode();
  add();
  for (mlir::Operation *op = before->getNextNode(); op != end; op = op->getNextNode())
    setSegment(op, Segment::Epilogue);
}

/// `value` in the shape of `type`, in the epilogue; by way of a list of its elements if both have
/// several dimensions.
mlir::Value reshapeInEpilogue(mlir::OpBuilder &builder, mlir::Value value,
                              mlir::RankedTensorType type);
/// `value` as a kernel takes it as an operand of type `taken`: a list, or rows of blocks.
mlir::Value inRows(mlir::OpBuilder &builder, mlir::Value value, mlir::ShapedType taken);

/// Adds to every gradient and micro-mean of `step` the kernels that accumulate `microBatches` of
/// them; gradients become f32, or bf16 if `precision` is. Those of a gradient in bf16 are three:
/// the last computes what the others round by. No effect for one micro-batch.
void accumulateMicroBatches(mlir::ModuleOp module, mlir::func::FuncOp step, uint64_t microBatches,
                            GradPrecision precision = GradPrecision::F32);

/// The common operands of the updates of a step.
struct GradientFactor {
  mlir::Value factor;                              ///< f32 scalar on every gradient, or null
  mlir::TypedValue<mlir::RankedTensorType> counts; ///< i1: whether the step is applied, or null
};

/// The two kernels of `zero.square_sum` for elements of type `element`, called `name`_squares and
/// `name`_total.
mlir::ArrayAttr buildSquareSumKernels(mlir::ModuleOp module, llvm::StringRef name,
                                      mlir::Type element);

/// Limits beyond which a step changes no state; 0: there is none.
struct StepGuardOptions {
  double mostNorm = 0;      ///< of the gradients, before they are clipped
  double mostLossRatio = 0; ///< of the loss and a running mean of the losses of applied steps

  bool isOn() const { return mostNorm > 0 || mostLossRatio > 0; }
};

struct GradientFactorOptions {
  double clipNorm = 0;
  bool clipsByPrevious = false; ///< by the norm of the step before, without a loss scale or skips
  bool isScaleFixed = false;
  LossScaleOptions lossScale = {};
  mlir::Value share = {};      ///< a factor that the gradients still lack, or null
  bool skipsNonFinite = false; ///< also without a loss scale
  StepGuardOptions guard = {}; ///< skips what is not finite, too
};

/// Appends the global norm of `gradients`, the factor, whether the step is applied and the next
/// loss scale, as far as gradient clipping, a loss scale or the skipping of steps need them. The
/// step then returns "gradient_norm", "loss_scale" and "applied".
GradientFactor buildGradientFactor(mlir::ModuleOp module, mlir::func::FuncOp step,
                                   llvm::ArrayRef<GradientOp> gradients,
                                   const GradientFactorOptions &options);

} // namespace zero

#endif // ZERO_TRANSFORMS_STEP_STEPGRADIENTS_H
