//===- StepFunction.h - the step function and its parts ---------*- C++ -*-===//

#ifndef ZERO_ANALYSIS_STEPFUNCTION_H
#define ZERO_ANALYSIS_STEPFUNCTION_H

#include "dialects/Zero/Zero.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace zero {

/// The step function of `module`; an error at the module if there is none, or if
/// its body is not one block.
llvm::FailureOr<mlir::func::FuncOp> findStep(mlir::ModuleOp module);

/// The value that `step` returns under the binding "loss": one float element.
llvm::FailureOr<mlir::Value> findLoss(mlir::func::FuncOp step);

/// Whether `step` has nodes of ONNX's domain for training. What it updates is known once
/// `recognise` and zero-expand-gradients have replaced them.
bool hasTrainingNodes(mlir::func::FuncOp step);

/// The number of micro-batches that one step accumulates: 1 unless the module has an attribute.
int64_t microBatchesOf(mlir::ModuleOp module);

/// How many times one step executes the ops of the micro-batch: once for each, or once in all if
/// the step contains every micro-batch.
int64_t iterationsOf(mlir::ModuleOp module);

/// The first op that runs once, after all micro-batches; the terminator if there is none.
mlir::Operation *findEpilogue(mlir::func::FuncOp step);

/// The first op after the prologue: ops inserted before it run for each micro-batch, after the
/// complete prologue.
mlir::Operation *findPrologueEnd(mlir::func::FuncOp step);

/// On an argument of the step: its elements are tokens, see zero-mark-tokens.
inline constexpr llvm::StringLiteral kTokensAttr = "zero.tokens";

/// The name under which the user binds argument or reads result `index`.
llvm::StringRef argumentBinding(mlir::func::FuncOp step, unsigned index);
llvm::StringRef resultBinding(mlir::func::FuncOp step, unsigned index);

/// Appends an argument of `type` bound as `name`.
mlir::Value addArgument(mlir::func::FuncOp step, mlir::Type type, llvm::StringRef name);
/// Appends `value` to the results of the step, as `name`.
void addResult(mlir::func::FuncOp step, mlir::Value value, llvm::StringRef name);
/// Replaces result `index` of the step by `value`, of the same type.
void setResult(mlir::func::FuncOp step, unsigned index, mlir::Value value);

} // namespace zero

#endif // ZERO_ANALYSIS_STEPFUNCTION_H
