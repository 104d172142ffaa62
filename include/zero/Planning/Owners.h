//===- Owners.h - assign matrices to the ranks that update them -*- C++ -*-===//

#ifndef ZERO_PLANNING_OWNERS_H
#define ZERO_PLANNING_OWNERS_H

#include <cstdint>
#include <optional>
#include <vector>

namespace zero::planning {

struct BucketItem;

/// The work of one update for the rank that does it.
struct Job {
  double operations = 0;
  int64_t elements = 0; ///< that the rank stores
};

/// The rank of each job, and the operations of the rank with most of them.
struct JobPlan {
  std::vector<int64_t> ranks;
  double most = 0;
};

/// Assigns jobs, the one with most operations first, each to the rank with fewest operations that
/// has space for it: no rank gets more than `capacity` elements. Nothing if a job finds no space.
/// `before` has operations that the ranks do anyway, or is empty.
std::optional<JobPlan> assignJobs(const std::vector<Job> &jobs, int64_t ranks, int64_t capacity,
                                  std::vector<double> before = {});
/// No assignment gives the rank with most operations fewer, those `before` among them.
double leastOperations(const std::vector<Job> &jobs, int64_t ranks,
                       const std::vector<double> &before = {});

/// The rank that owns an item. In a group, which is a bucket, the item is inside that rank's slice.
/// Without a group, slices of a bucket cut it: its owner computes the update, for all ranks.
struct Owner {
  int64_t rank = -1; ///< -1: all ranks compute the update, each of the whole item
  int64_t group = -1;
  int64_t start = 0; ///< elements, in the slice
};

struct Owners {
  std::vector<Owner> items;
  std::vector<int64_t> slices; ///< elements of a slice of each group
};

struct OwnerLimits {
  int64_t ranks = 1;
  int64_t bytes = 0; ///< of a group
  int64_t alignment = 1;
  double padding = 0.1; ///< of all groups together, as a share of the elements of all items
  /// Of each group, as a share of its elements. What the former leaves in no group may have it.
  double paddingOfGroup = 0.5;
  /// Operations that take as long as it takes to receive an element. An update of fewer operations
  /// for each element is computed by all ranks rather than exchanged, and an exchange of its own is
  /// not made for a group of fewer than `leastBytes`.
  double operationsOfExchange = 32;
  int64_t leastBytes = 256 << 10;
};

/// Gives items that are ownable owners. First, as many items of equal shape as there are ranks are
/// a group. Of those that are left, items of any shape form groups whose slices are almost equally
/// full, then groups of less full slices. The others are in no group: they have an owner only if
/// their operations are worth an exchange. Of some ways to form groups takes that which takes least
/// time.
Owners planOwners(const std::vector<BucketItem> &items, const OwnerLimits &limits);

} // namespace zero::planning

#endif // ZERO_PLANNING_OWNERS_H
