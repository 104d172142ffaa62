//===- LoopFusion.h - fuse linalg.generic into few loop nests ---*- C++ -*-===//

#ifndef LIB_CODEGEN_KERNELS_LOOPFUSION_H
#define LIB_CODEGEN_KERNELS_LOOPFUSION_H

#include "LoopSchedule.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/PatternMatch.h"

namespace zero {

/// Rewrites the linalg.generic ops of `block` as scf.for loops over scalars. Ops share a loop if
/// one may compute in an iteration what another reads in the same iteration. `destinations`: maps a
/// value of the block to the tensor whose buffer it should use if every other access of that tensor
/// allows it. For a GPU, kLoopAttr of each loop describes how its iterations depend on each other.
void fuseIntoLoops(mlir::RewriterBase &rewriter, mlir::Block &block,
                   const llvm::DenseMap<mlir::Value, mlir::Value> &destinations, LoopStyle style);

} // namespace zero

#endif // LIB_CODEGEN_KERNELS_LOOPFUSION_H
