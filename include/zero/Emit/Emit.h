//===- Emit.h - write the executable of a packed step -----------*- C++ -*-===//

#ifndef ZERO_EMIT_EMIT_H
#define ZERO_EMIT_EMIT_H

#include "zero/Analysis/Storage.h"
#include "zero/Planning/Machine.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace zero {

struct EmitOptions {
  std::string output;        ///< path of the .zexe
  std::string name;          ///< of the model, for messages
  std::string model;         ///< absolute path of the ONNX file that it was compiled from; or empty
  std::string ortCheckpoint; ///< absolute path of a checkpoint of onnxruntime-training; or empty
  std::string dataRoot;      ///< directory that data references are relative to
  std::vector<std::pair<std::string, std::string>> settings; ///< see PhaseOptions
  double learningRate = 1e-3;                                ///< default of the learning-rate input
  unsigned threads = 1;                                      ///< that compile kernels
  std::string cacheFolder;                                   ///< of object code; empty: none
  std::vector<unsigned> gpuArchitectures;                    ///< of a program for CUDA: 80, 90, 100
  planning::Machine machine;                                 ///< that the plan is for
  std::string *witness = nullptr; ///< if set, receives places and commands as JSON
};

/// The number of distinct native kernels, and of those found in the cache.
struct EmittedKernels {
  unsigned all = 0, cached = 0;
};

/// A module after all phases up to `pack`, and the analysis of its step.
struct PackedStep {
  mlir::ModuleOp module;
  const Storage *storage;
};

/// Compiles the kernels of `steps`, the first one and those for other shapes of the inputs, which
/// have its state at the same places, and writes the executable. Kernels of equal code are compiled
/// once. Errors are diagnostics; no partial file remains.
llvm::FailureOr<EmittedKernels> emitExecutable(llvm::ArrayRef<PackedStep> steps,
                                               const EmitOptions &options);

} // namespace zero

#endif // ZERO_EMIT_EMIT_H
