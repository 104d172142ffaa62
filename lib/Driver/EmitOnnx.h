//===- EmitOnnx.h - write the step as an ONNX model -------------*- C++ -*-===//

#ifndef LIB_DRIVER_EMITONNX_H
#define LIB_DRIVER_EMITONNX_H

#include "zero/Driver/Compiler.h"

namespace zero {

/// Rewrites the step of `module`, after the phase `step`, in plain ONNX operators, writes it to
/// `options.emitOnnx` and reports its inputs. `dataRoot` is the directory of data references.
llvm::LogicalResult writeStep(mlir::ModuleOp module, const CompilerOptions &options,
                              llvm::StringRef dataRoot, llvm::raw_ostream &report);

} // namespace zero

#endif // LIB_DRIVER_EMITONNX_H
