//===- ContiguousLoops.h - collapse loops over contiguous memory -*- C++ -*-===//

#ifndef ZERO_CODEGEN_CONTIGUOUSLOOPS_H
#define ZERO_CODEGEN_CONTIGUOUSLOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace zero {

/// Collapses nested loops of `kernel`, a function on buffers, that run through memory in its order,
/// and merges the dimensions of the buffers that they access, of arguments by a view. The order of
/// the iterations stays the same. A kernel that works element by element becomes one loop over
/// buffers of rank 1.
void collapseContiguousLoops(mlir::func::FuncOp kernel);

} // namespace zero

#endif // ZERO_CODEGEN_CONTIGUOUSLOOPS_H
