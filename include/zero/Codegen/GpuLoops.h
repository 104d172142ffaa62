//===- GpuLoops.h - common functions of loops for GPUs ----------*- C++ -*-===//

#ifndef ZERO_CODEGEN_GPULOOPS_H
#define ZERO_CODEGEN_GPULOOPS_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace zero {

/// Whether kLoopAttr of `op`, a loop, is `mark`.
bool isMarked(mlir::Operation *op, llvm::StringRef mark);
/// Whether threads may share the iterations of `op`, a loop.
bool isShared(mlir::Operation *op);

/// Iterations of a loop from 0 in steps of 1: ShapedType::kDynamic when they are the length
/// of the launch, none when they are not known.
std::optional<int64_t> iterationsOf(mlir::scf::ForOp loop);

/// The same if it is a constant, else none.
std::optional<int64_t> constantIterationsOf(mlir::scf::ForOp loop);

/// The loop of a constant number of iterations that is all of `loop` but for address arithmetic,
/// and that takes and returns what `loop` carries; or null.
mlir::scf::ForOp innerLoopOf(mlir::scf::ForOp loop);

/// The indices that a collapsed `loop` takes its own apart into, or null.
mlir::affine::AffineDelinearizeIndexOp digitsOf(mlir::scf::ForOp loop);

/// The memory under all views of `buffer`.
mlir::Value memoryOf(mlir::Value buffer);

/// Threads that share one iteration of an outermost loop.
enum class Threads {
  One,
  Warp,   ///< 32 neighbours
  Block,  ///< 256
  Column, ///< the same lane of the 16 warps of a block
};
llvm::StringRef threadsName(Threads threads);
int64_t lanesOf(Threads threads);

/// On an outermost loop of independent iterations: its Threads value as a string.
inline constexpr llvm::StringLiteral kThreadsOfLoopAttr = "zero.loop_threads";
/// On a loop: neighbouring iterations that a thread runs together.
inline constexpr llvm::StringLiteral kNeighboursAttr = "zero.neighbours";

/// What adds to the number `index` that `loop` carries, if that is one operation with a
/// neutral element, perhaps in an inner loop; else null.
mlir::Operation *combinerOf(mlir::scf::ForOp loop, unsigned index);

/// Whether threads can add up what each of them has of that number: 32 or 64 bits.
bool mayCombine(mlir::scf::ForOp loop, unsigned index);

} // namespace zero

#endif // ZERO_CODEGEN_GPULOOPS_H
