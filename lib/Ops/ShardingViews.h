//===- ShardingViews.h - shards under another shape -------------*- C++ -*-===//

#ifndef LIB_OPS_SHARDINGVIEWS_H
#define LIB_OPS_SHARDINGVIEWS_H

#include "zero/Ops/Sharding.h"

namespace zero::ops {

/// The cut of a view of shape `to` that shows the same shards as `cut` of shape `from`.
///
/// A cut of dimension d in a piece of both shapes divides its elements into equal parts, one for
/// each index of the dimensions before d, of which each is cut by itself.
std::optional<Cut> throughView(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
                               const Cut &cut, int64_t ways);

} // namespace zero::ops

#endif // LIB_OPS_SHARDINGVIEWS_H
