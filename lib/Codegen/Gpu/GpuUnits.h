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

/// Divides the body of `kernel` into units. Operations without effects that read nothing that is
/// written after them belong to no unit: each launch that needs them computes them. Scalars pass
/// from one unit to another through buffers, which this function creates.
std::vector<Unit> formUnits(mlir::func::FuncOp kernel);

} // namespace zero

#endif // LIB_CODEGEN_GPU_GPUUNITS_H
