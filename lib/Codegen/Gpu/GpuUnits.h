//===- GpuUnits.h - the launches of a kernel in sequence --------*- C++ -*-===//

#ifndef LIB_CODEGEN_GPU_GPUUNITS_H
#define LIB_CODEGEN_GPU_GPUUNITS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// Neighbouring operations of a kernel's body that one launch runs.
struct Unit {
  enum class Kind {
    Shared, ///< a loop of independent iterations
    Block,  ///< scalar code and sums: one block runs it once
    Serial, ///< a loop whose iterations depend on each other
  };
  Kind kind;
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Cuts the body of `kernel` into units. What has no effect, and reads nothing that is
/// written after it, belongs to none: each launch that needs it computes it. Numbers that go
/// from one unit to another do so through buffers, which are made here.
std::vector<Unit> formUnits(mlir::func::FuncOp kernel);

} // namespace zero

#endif // LIB_CODEGEN_GPU_GPUUNITS_H
