//===- state_table.h - the state of a program -------------------*- C++ -*-===//
// A checkpoint identifies tensors by name; ranks, stages and buckets belong to the program. The
// value of a parameter is its f32 master if there is one: it is saved under the parameter's name,
// and the parameter is recomputed from it.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CHECKPOINT_STATE_TABLE_H
#define RUNTIME_CHECKPOINT_STATE_TABLE_H

#include "runtime/format/tables.h"
#include "runtime/support/status.h"

#include <vector>

namespace zero::rt {

/// A tensor that outlives the step, and where the program keeps it.
struct StateTensor {
  const proto::Tensor *tensor = nullptr;
  std::vector<Block> blocks;   ///< one, or one for each tile
  std::string name;            ///< in a checkpoint
  std::vector<uint64_t> shape; ///< in a checkpoint
  uint64_t elements = 0;
  bool derived = false; ///< a rounded copy of its master: loaded from it, not saved

  DType dtype() const { return toDType(tensor->dtype()); }
  /// The address of element `inBuffer` of the block's buffer in the arena of `rank`, in bytes, in
  /// the tier of the buffer.
  uint64_t place(const Block &block, int rank, uint64_t inBuffer) const {
    return placeOf(block.mesh, *block.buffer, rank) + inBuffer * sizeOf(dtype());
  }
};

/// The state of `program`, in its order: see persistenceOf().
/// `program` must have passed validate() and outlive the list.
Status listState(const proto::Program &program, std::vector<StateTensor> &state);

/// Whether `name` is part of the loss scaling, which only some precisions have.
bool isLossScale(const std::string &name);

/// The type that trained parameters are kept in beside a master; F32 without masters.
proto::DType precisionOf(const std::vector<StateTensor> &state);

/// Elements [begin, begin + count) of a block of state tensor `tensor`, which one rank
/// writes.
struct Piece {
  size_t tensor, block;
  uint64_t begin, count;
  uint64_t place;  ///< bytes in its arena
  uint64_t offset; ///< bytes in its file, behind the header
};

/// The pieces that each rank writes, in the order of its file: what it alone holds, and of what it
/// holds together with other ranks, which forms one list of bytes, an equal part. Larger elements
/// come first, so that all are aligned. `nodes`: the node of each rank, if the ranks of each node
/// write all that they hold; else empty.
std::vector<std::vector<Piece>> divideState(const std::vector<StateTensor> &state, int ranks,
                                            const std::vector<int> &nodes = {});

} // namespace zero::rt

#endif // RUNTIME_CHECKPOINT_STATE_TABLE_H
