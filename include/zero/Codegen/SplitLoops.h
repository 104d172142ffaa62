//===- SplitLoops.h - loops whose iterations threads divide -----*- C++ -*-===//

#ifndef ZERO_CODEGEN_SPLITLOOPS_H
#define ZERO_CODEGEN_SPLITLOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace zero {

/// Loops of a kernel that together do all its work, over the same iterations: what one
/// iteration writes, no other one touches.
struct Split {
  llvm::SmallVector<mlir::scf::ForOp> loops;
  /// Each iteration has its own temporaries, which must be on the stack.
  bool hasTemporaries = false;
};

/// Finds such loops in a kernel over buffers, whose temporaries are still allocated
/// where they are used. Nothing if there are none, or threads would do work twice.
std::optional<Split> findSplit(mlir::func::FuncOp kernel);

/// The same for a loop among others of a kernel.
std::optional<Split> findSplit(mlir::scf::ForOp nest);

/// Gives `kernel` two more arguments, `begin` and `end`, between which the loops run,
/// and `zero.extent`, as Kernel.extent in executable.proto.
void applySplit(mlir::func::FuncOp kernel, const Split &split);

} // namespace zero

#endif // ZERO_CODEGEN_SPLITLOOPS_H
