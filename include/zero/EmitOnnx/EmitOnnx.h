//===- EmitOnnx.h - write a step as an ONNX model ---------------*- C++ -*-===//

#ifndef ZERO_EMITONNX_EMITONNX_H
#define ZERO_EMITONNX_EMITONNX_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace zero {

struct EmitOnnxOptions {
  std::string output;   ///< path of the .onnx
  std::string dataRoot; ///< directory that data references are relative to
  double learningRate = 1e-3;
  /// Write tensors to a second file, beside the first: always, or only where they are more than a
  /// protobuf can hold.
  bool externalData = false;
};

/// The file of tensors beside the model `output`.
std::string externalDataOf(llvm::StringRef output);

/// The operators and tensors that were written.
struct EmittedGraph {
  size_t nodes = 0, states = 0;
  bool hasExternalData = false;
};

/// Writes the step of `module`, after zero-return-state and zero-decompose-nodes. An input whose
/// state has an initial value other than zeros has it as its default. Errors are diagnostics; no
/// partial file remains.
llvm::FailureOr<EmittedGraph> emitOnnx(mlir::ModuleOp module, const EmitOnnxOptions &options);

} // namespace zero

#endif // ZERO_EMITONNX_EMITONNX_H
