//===- Buckets.h - assign tensors to buckets --------------------*- C++ -*-===//

#ifndef ZERO_PLANNING_BUCKETS_H
#define ZERO_PLANNING_BUCKETS_H

#include "zero/Planning/Repetition.h"

#include <cstdint>
#include <vector>

namespace zero::planning {

/// A parameter for the assignment to buckets, in order of first use.
struct BucketItem {
  int64_t elements = 0;
  int64_t elementBytes = 4;
  uint64_t shape = 0; ///< equal for parameters of equal shape and use
  uint64_t kind = 0;  ///< only items of equal kind may share a bucket
  bool alone = false; ///< its uses are far apart: a bucket of its own
  /// One rank may own all of it: its update needs the whole tensor.
  bool isOwnable = false;
};

/// The place of an item.
struct BucketSlot {
  int64_t bucket = 0;
  int64_t start = 0; ///< elements
};

struct Buckets {
  std::vector<BucketSlot> slots; ///< one per item
  std::vector<int64_t> elements; ///< of each bucket, padded
};

/// The repetition that covers the most bytes; of equal ones the shortest period.
Repetition findLayers(const std::vector<BucketItem> &items);

/// A number for each item that one rank will own all of, else -1. `ranks` items with the same
/// number are of equal elements, shape and kind, one for each rank, at most `limit` bytes together:
/// the operations on them are divided evenly. Items of a kind form groups in order; those that are
/// left have no owner.
std::vector<int64_t> groupByOwner(const std::vector<BucketItem> &items, int64_t ranks,
                                  int64_t limit);

/// Packs whole tensors in order, each starting at a multiple of `alignment`
/// elements. A bucket holds items of one layer and kind, at most `limit` bytes
/// unless one tensor alone is larger, and is padded to ranks x alignment. Items with the same
/// number in `owners`, see groupByOwner, are a bucket of which each slice is one item.
Buckets planBuckets(const std::vector<BucketItem> &items, int64_t ranks, int64_t limit,
                    int64_t alignment, const std::vector<int64_t> &owners = {});

} // namespace zero::planning

#endif // ZERO_PLANNING_BUCKETS_H
