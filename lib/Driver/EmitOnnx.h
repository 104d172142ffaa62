//===- EmitOnnx.h - write the step as an ONNX model -------------*- C++ -*-===//

#ifndef LIB_DRIVER_EMITONNX_H
#define LIB_DRIVER_EMITONNX_H

#include "Shapes.h"

namespace zero {

/// The file for the step of shape `index`: `options.emitOnnx`, then that with -2, -3 and so on at
/// the end of its name.
std::string emittedFile(const CompilerOptions &options, size_t index);

/// Rewrites the steps of all shapes, after the phase `step`, in plain ONNX operators, writes each
/// to its file and reports its inputs. `dataRoot` is the directory of data references.
llvm::LogicalResult writeSteps(llvm::ArrayRef<ShapeModule> shapes, const CompilerOptions &options,
                               llvm::StringRef dataRoot, llvm::raw_ostream &report);

} // namespace zero

#endif // LIB_DRIVER_EMITONNX_H
