//===- WholeStep.h - flags for a model with its own update ------*- C++ -*-===//

#ifndef LIB_DRIVER_WHOLESTEP_H
#define LIB_DRIVER_WHOLESTEP_H

#include "zero/Driver/Compiler.h"

namespace zero {

/// With --lora, makes of a model that returns the gradients of its parameters its forward pass,
/// which is differentiated like others: adapters have no gradients in the model.
llvm::LogicalResult keepForward(mlir::ModuleOp module, const CompilerOptions &options);

/// Fails after an error if a flag is given that has no effect on `module`, because the model is a
/// whole training step: that of an optimizer, of a precision, or of what is trained.
llvm::LogicalResult checkWholeStep(mlir::ModuleOp module, const CompilerOptions &options);

/// The same for --lr after the phases: the rate may be a constant of the model.
llvm::LogicalResult checkLearningRate(mlir::ModuleOp module, const CompilerOptions &options);

} // namespace zero

#endif // LIB_DRIVER_WHOLESTEP_H
