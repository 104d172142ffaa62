//===- Buckets.h - assign tensors to buckets --------------------*- C++ -*-===//

#ifndef ZERO_PLANNING_BUCKETS_H
#define ZERO_PLANNING_BUCKETS_H

#include "zero/Planning/Owners.h"
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
  double operations = 0; ///< of that update, relative to others
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

/// Packs whole tensors in order, each starting at a multiple of `alignment`
/// elements. A bucket holds items of one layer and kind, at most `limit` bytes
/// unless one tensor alone is larger, and is padded to ranks x alignment. Each group of `owners` is
/// a bucket, in which an item is inside the slice of its owner.
Buckets planBuckets(const std::vector<BucketItem> &items, int64_t ranks, int64_t limit,
                    int64_t alignment, const Owners &owners = {});

} // namespace zero::planning

#endif // ZERO_PLANNING_BUCKETS_H
