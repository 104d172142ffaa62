//===- DeadOps.h - ops that nothing reads -----------------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_PROGRAM_DEADOPS_H
#define LIB_TRANSFORMS_PROGRAM_DEADOPS_H

#include "mlir/IR/Block.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

namespace zero {

/// Erases the ops of `block` without effects whose results nothing reads, and those that only they
/// read.
inline void eraseDeadOps(mlir::Block &block) {
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
}

} // namespace zero

#endif // LIB_TRANSFORMS_PROGRAM_DEADOPS_H
