//===- TensorTable.h - state, inputs and outputs of a program ---*- C++ -*-===//

#ifndef LIB_EMIT_TENSORTABLE_H
#define LIB_EMIT_TENSORTABLE_H

#include "CommandBuilder.h"

namespace zero {

/// Fills buffers, tensors and gradients from the module's state symbols and the
/// constants of the step; `data` receives the constants' bytes.
void buildTensors(mlir::ModuleOp module, mlir::func::FuncOp step, const Storage &storage,
                  CommandBuilder &commands, llvm::StringRef dataRoot, proto::Program &program,
                  std::string &data);

/// Fills inputs and outputs from the bindings of the step.
void buildBindings(mlir::func::FuncOp step, CommandBuilder &commands, proto::Program &program);

} // namespace zero

#endif // LIB_EMIT_TENSORTABLE_H
