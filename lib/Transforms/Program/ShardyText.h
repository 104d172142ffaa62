//===- ShardyText.h - attributes of Shardy as text --------------*- C++ -*-===//
// The dialect `sdy` stores attributes as their text; this reads the two that say how arguments are
// sharded: https://openxla.org/shardy/sdy_dialect.
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_PROGRAM_SHARDYTEXT_H
#define LIB_TRANSFORMS_PROGRAM_SHARDYTEXT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace zero {

/// A `#sdy.sharding`: how one tensor is divided over the devices of a mesh. Priorities and open
/// dimensions only guide Shardy's propagation, and are left out.
struct ShardySharding {
  llvm::StringRef mesh; ///< "@mesh", or "mesh<[...]" if it is written in place
  llvm::SmallVector<llvm::SmallVector<llvm::StringRef>> dims; ///< axes of each dimension
  bool hasSubAxis = false;  ///< a dimension is sharded along a part of an axis
  bool isUnreduced = false; ///< devices hold summands of the tensor
};

/// A `#sdy.mesh`: names and sizes of its axes, the outermost first.
using ShardyMesh = llvm::SmallVector<std::pair<llvm::StringRef, int64_t>>;

/// Parses "sharding<@mesh, [{"x", "y"}, {}]>". Nothing if it has another form.
std::optional<ShardySharding> parseShardySharding(llvm::StringRef text);
/// Parses "mesh<["x"=2, "y"=4]>", without regard to what follows the axes. Nothing if it has
/// another form, or sizes below 1.
std::optional<ShardyMesh> parseShardyMesh(llvm::StringRef text);

} // namespace zero

#endif // LIB_TRANSFORMS_PROGRAM_SHARDYTEXT_H
