//===- LoopSchedule.h - which loop nests share a loop -----------*- C++ -*-===//
// Loop fusion works one loop at a time. At each level every linalg.generic of a kernel has some
// loops left; those whose outermost loops can be fused form a stage, stages run in sequence, and
// the same decision is repeated inside the fused loop. So layer normalization becomes one loop
// over the rows, which contains one loop for the mean, one for the variance and one for the result.
//===----------------------------------------------------------------------===//

#ifndef LIB_CODEGEN_KERNELS_LOOPSCHEDULE_H
#define LIB_CODEGEN_KERNELS_LOOPSCHEDULE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace zero {

/// The target of the loops. A core executes entire nests, so loops that read the same memory are
/// fused. On a GPU threads divide the iterations of a loop: an outer loop either reduces or has
/// independent iterations, and recomputation is cheaper than memory.
enum class LoopStyle { Core, Gpu };

/// An operation of the block that is fused, with its loops opened so far.
struct Node {
  mlir::Operation *op;
  /// Null for an operation other than linalg.generic, which is moved but not changed.
  mlir::linalg::GenericOp generic;
  /// Dimensions of the iteration space yet to be opened, outermost first.
  llvm::SmallVector<unsigned> dims;
  /// The loop variable of each dimension that is open.
  llvm::SmallVector<mlir::Value> ivs;

  bool isOpaque() const { return !generic; }
  /// Iterations of the loop to open next.
  int64_t extent() const;
  /// Whether there is a loop to open, one of a reduction.
  bool reducesNext() const;
  /// Whether its sums run along rows of memory, so that neighbours in memory are results.
  bool sumsColumns = false;
};

/// A node's part in a stage.
struct Placed {
  Node node;
  /// The results that must outlive the stage.
  llvm::SmallVector<mlir::Value, 2> escaping;
  /// False for a clone that recomputes a cheap value to avoid storing it.
  bool original = true;

  bool escapes(mlir::Value result) const { return llvm::is_contained(escaping, result); }
};

/// Operations that run together: one loop, some scalar code, or one opaque operation.
struct Stage {
  enum class Kind { Loop, Scalar, Opaque };
  Kind kind;
  int64_t extent;
  llvm::SmallVector<Placed> nodes;
};

/// An operand that a node really reads.
struct Read {
  mlir::Value value;
  mlir::AffineMap map; ///< null: read from inside the body, at any place
};

/// A node for `op`, without loops of one iteration, in the memory order of the largest operand; on
/// a GPU the reductions are innermost.
Node makeNode(mlir::Operation *op, LoopStyle style);

/// The reads of `node`, without constant initial values of reductions.
llvm::SmallVector<Read> readsOf(const Node &node);

/// The scalar that all elements of `init` start from, or null: a linalg.fill.
mlir::Value fillScalar(mlir::Value init);

/// Orders `nodes`, which are in program order, into stages. `outermost`: users
/// outside `nodes` need the results; on inner levels the caller stores them.
std::vector<Stage> scheduleStages(llvm::ArrayRef<Node> nodes, bool outermost, LoopStyle style);

} // namespace zero

#endif // LIB_CODEGEN_KERNELS_LOOPSCHEDULE_H
