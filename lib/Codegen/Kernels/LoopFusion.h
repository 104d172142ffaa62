//===- LoopFusion.h - fuse linalg.generic into few loop nests ---*- C++ -*-===//

#ifndef LIB_CODEGEN_KERNELS_LOOPFUSION_H
#define LIB_CODEGEN_KERNELS_LOOPFUSION_H

#include "LoopSchedule.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/PatternMatch.h"

namespace zero {

/// Rewrites the linalg.generic ops of `block` as scf.for loops over scalars,
/// which share loops wherever one may compute what another reads in the same
/// iteration. `destinations`: for a value of the block, the tensor whose buffer
/// it should take if every other access of that tensor allows it. For a GPU each loop says
/// by kLoopAttr what its iterations have to do with each other.
void fuseIntoLoops(mlir::RewriterBase &rewriter, mlir::Block &block,
                   const llvm::DenseMap<mlir::Value, mlir::Value> &destinations, LoopStyle style);

} // namespace zero

#endif // LIB_CODEGEN_KERNELS_LOOPFUSION_H
