//===- Emit.h - the executable of a packed step -----------------*- C++ -*-===//

#ifndef ZERO_EMIT_EMIT_H
#define ZERO_EMIT_EMIT_H

#include "zero/Analysis/Storage.h"
#include "zero/Planning/Machine.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace zero {

struct EmitOptions {
  std::string output;                     ///< path of the .zexe
  std::string name;                       ///< of the model, for people
  std::string model;                      ///< the ONNX file it was made from, absolute; or empty
  std::string dataRoot;                   ///< folder that data references are relative to
  double learningRate = 1e-3;             ///< default of the learning-rate input
  unsigned threads = 1;                   ///< that compile kernels
  std::string cacheFolder;                ///< of object code; empty: none
  std::vector<unsigned> gpuArchitectures; ///< of a program for CUDA: 80, 90, 100
  planning::Machine machine;              ///< that was planned for
};

/// Different native kernels, and those among them that were compiled before.
struct EmittedKernels {
  unsigned all = 0, cached = 0;
};

/// Compiles the kernels of `module`, which went through all phases up to `pack` and whose step
/// `storage` is of, and writes the executable. Errors are diagnostics; nothing is left behind.
llvm::FailureOr<EmittedKernels> emitExecutable(mlir::ModuleOp module, const Storage &storage,
                                               const EmitOptions &options);

} // namespace zero

#endif // ZERO_EMIT_EMIT_H
