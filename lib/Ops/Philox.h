//===- Philox.h - counter-based random numbers ------------------*- C++ -*-===//
//
// Random numbers are drawn by Philox4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011). The counter of an element is (its place in
// the row, the row's number in the global batch, node, step), the key is the seed. So
// numbers depend neither on how the batch, which is the first dimension, is split over ranks and
// micro-batches, nor on the order of evaluation.
//
// A tensor without rows of the batch draws by the same rule: its first dimension
// counts as rows of this rank and micro-batch. So each of these has its own numbers,
// as in PyTorch's data parallel training, and they depend on the cut.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_OPS_PHILOX_H
#define LIB_OPS_PHILOX_H

#include "Lowering.h"

#include <array>

namespace zero::ops {

/// Creates a zero::RandomKey for `node`, which its draws derive from the step, the node and its
/// seed. `ownSeed` is the node's seed attribute as 32 bits, or 0 without one.
mlir::Value randomKey(onnx::NodeOp node, uint32_t ownSeed, NodeBuilder &nodes);

/// The four words drawn for the current element of a linalg op over `type`. `key` is
/// a zero::RandomKey, `part` the scalar zero.part, both as operands of the kernel.
std::array<mlir::Value, 4> drawWords(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type,
                                     mlir::Value key, mlir::Value part);

} // namespace zero::ops

#endif // LIB_OPS_PHILOX_H
