//===- ShardChoices.h - what nodes do with shards ---------------*- C++ -*-===//

#ifndef LIB_TRANSFORMS_SHARD_SHARDCHOICES_H
#define LIB_TRANSFORMS_SHARD_SHARDCHOICES_H

#include "zero/Ops/Sharding.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

namespace zero {

/// What becomes of an op that reads shards.
struct ShardChoice {
  enum class Kind {
    Shards,  ///< it computes on shards
    Table,   ///< it gathers the rows that the rank has of a table
    Classes, ///< a cross-entropy with the scores of some classes
    Whole,   ///< it reads whole tensors
  };
  Kind kind;
  ops::Sharding sharding = {};
  std::optional<ops::Cut> tokens = {}; ///< of the sum over ranks: with sequence parallelism
};

struct ShardChoices {
  llvm::MapVector<mlir::Operation *, ShardChoice> ofOps; ///< in program order
  llvm::DenseMap<mlir::Value, ops::Cut> cuts;            ///< of values that ranks hold in shards

  std::optional<ops::Cut> cutOf(mlir::Value value) const {
    auto it = cuts.find(value);
    return it == cuts.end() ? std::nullopt : std::optional(it->second);
  }
};

/// Chooses for the ops of `step`, whose values have the types of whole tensors, on `ways` ranks
/// that hold the shards of parameters that `zero.shard` says. With `cutsTokens` sums over ranks are
/// cut by tokens. Changes nothing.
ShardChoices chooseShards(mlir::ModuleOp module, mlir::func::FuncOp step, int64_t ways,
                          bool cutsTokens);

} // namespace zero

#endif // LIB_TRANSFORMS_SHARD_SHARDCHOICES_H
