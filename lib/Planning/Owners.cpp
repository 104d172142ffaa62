//===- Owners.cpp - assign matrices to the ranks that update them ---------===//

#include "zero/Planning/Owners.h"

#include "zero/Planning/Buckets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>

namespace zero::planning {

static int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

std::optional<JobPlan> assignJobs(const std::vector<Job> &jobs, int64_t ranks, int64_t capacity,
                                  std::vector<double> before) {
  std::vector<size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return jobs[a].operations > jobs[b].operations; });
  using Load = std::pair<double, int64_t>; // operations, rank
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  before.resize(size_t(ranks));
  for (int64_t rank = 0; rank < ranks; ++rank)
    loads.emplace(before[size_t(rank)], rank);
  std::vector<int64_t> space(size_t(ranks), capacity);
  JobPlan plan{std::vector<int64_t>(jobs.size()), *std::max_element(before.begin(), before.end())};
  for (size_t job : order) {
    std::vector<Load> full;
    while (!loads.empty() && space[size_t(loads.top().second)] < jobs[job].elements) {
      full.push_back(loads.top());
      loads.pop();
    }
    if (loads.empty())
      return std::nullopt;
    auto [operations, rank] = loads.top();
    loads.pop();
    operations += jobs[job].operations;
    plan.ranks[job] = rank;
    plan.most = std::max(plan.most, operations);
    space[size_t(rank)] -= jobs[job].elements;
    loads.emplace(operations, rank);
    for (const Load &load : full)
      loads.push(load);
  }
  return plan;
}

double leastOperations(const std::vector<Job> &jobs, int64_t ranks,
                       const std::vector<double> &before) {
  double sum = std::accumulate(before.begin(), before.end(), 0.0), largest = 0;
  for (const Job &job : jobs) {
    sum += job.operations;
    largest = std::max(largest, job.operations);
  }
  if (!before.empty()) {
    const auto [least, most] = std::minmax_element(before.begin(), before.end());
    largest = std::max(*most, *least + largest);
  }
  return std::max(largest, sum / double(ranks));
}

namespace {

/// How groups of different items are formed.
struct Way {
  bool fills = false; ///< whether other items are put into what is empty
  bool pads = false;  ///< whether all groups may be padded by as much as one alone may be
};

/// Makes groups of items until nothing is left that forms one.
class OwnerPlanner {
public:
  OwnerPlanner(const std::vector<BucketItem> &items, const OwnerLimits &limits, Way way)
      : items(items), limits(limits), way(way), operations(size_t(limits.ranks), 0) {
    owners.items.resize(items.size());
    int64_t elements = 0;
    for (const BucketItem &item : items)
      elements += item.elements;
    allowance = int64_t(limits.padding * double(elements));
  }

  void plan() {
    groupEqual();
    if (!way.pads)
      groupDifferent();
    // Slices that cut what is left would exchange each of its elements once more.
    allowance = std::numeric_limits<int64_t>::max();
    groupDifferent();
    assignRest();
  }
  Owners take() { return std::move(owners); }

  /// Whether more is exchanged than the limit of padding allows, and the operations of the rank
  /// with most of them, with those that take as long as what is exchanged.
  std::pair<bool, double> cost() const {
    double elements = 0, everywhere = 0;
    for (size_t index = 0; index < items.size(); ++index) {
      elements += double(items[index].elements);
      if (items[index].isOwnable && owners.items[index].rank < 0)
        everywhere += items[index].operations;
    }
    return {exchanged > 2 * limits.padding * elements,
            *std::max_element(operations.begin(), operations.end()) + everywhere +
                limits.operationsOfExchange * exchanged};
  }

private:
  using Indices = std::vector<size_t>;

  /// The elements of padding that a group of `elements` may have.
  int64_t paddingOf(int64_t elements) const {
    return std::min(allowance, int64_t(limits.paddingOfGroup * double(elements)));
  }
  bool mayBeGrouped(size_t index) const { return items[index].isOwnable && !items[index].alone; }
  /// Whether to compute an update takes longer than to exchange what is computed.
  bool isWorthExchange(size_t index) const {
    return items[index].operations >= limits.operationsOfExchange * double(items[index].elements);
  }
  /// Whether items equal to this one, one for each rank, are enough for a bucket.
  bool fillsGroup(size_t index) const {
    return isWorthExchange(index) ||
           spaceOf(index) * items[index].elementBytes >= limits.leastBytes / limits.ranks;
  }
  /// The elements that an item takes in a slice.
  int64_t spaceOf(size_t index) const { return roundUp(items[index].elements, limits.alignment); }
  Job jobOf(size_t index) const { return {items[index].operations, spaceOf(index)}; }
  std::vector<Job> jobsOf(const Indices &indices) const;

  void groupEqual();
  void groupDifferent();
  void assignRest();
  /// Items that may become a group.
  struct Packed {
    Indices indices = {};
    std::vector<int64_t> ranks = {}; ///< of each
    int64_t elements = 0;
  };
  void packAll(Indices open);
  Packed packSome(const Indices &bySpace) const;
  std::optional<Packed> pack(Indices indices) const;
  void fill(Packed &packed, const Indices &bySpace) const;
  void addGroup(const Packed &packed);

  const std::vector<BucketItem> &items;
  const OwnerLimits &limits;
  Way way;
  Owners owners;
  std::vector<double> operations; ///< of each rank, on its items
  double exchanged = 0;           ///< elements that a rank receives more
  int64_t allowance;              ///< elements of padding that more groups may add
};

} // namespace

std::vector<Job> OwnerPlanner::jobsOf(const Indices &indices) const {
  std::vector<Job> jobs;
  for (size_t index : indices)
    jobs.push_back(jobOf(index));
  return jobs;
}

void OwnerPlanner::addGroup(const Packed &packed) {
  std::vector<int64_t> ends(size_t(limits.ranks), 0);
  for (size_t i = 0; i < packed.indices.size(); ++i) {
    const size_t index = packed.indices[i];
    const int64_t rank = packed.ranks[i];
    owners.items[index] = {rank, int64_t(owners.slices.size()), ends[size_t(rank)]};
    ends[size_t(rank)] += spaceOf(index);
    operations[size_t(rank)] += items[index].operations;
  }
  const int64_t slice = *std::max_element(ends.begin(), ends.end());
  owners.slices.push_back(slice);
  const int64_t padding = slice * limits.ranks - packed.elements;
  allowance -= padding;
  exchanged += 2 * double(padding);
}

/// The operations on a group of equal items are divided evenly, in the order of the model.
void OwnerPlanner::groupEqual() {
  std::vector<int64_t> ranks(size_t(limits.ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::map<std::tuple<uint64_t, uint64_t, int64_t>, Indices> open;
  for (size_t index = 0; index < items.size(); ++index) {
    const BucketItem &item = items[index];
    if (!mayBeGrouped(index) || !fillsGroup(index) ||
        item.elements * item.elementBytes > limits.bytes / limits.ranks)
      continue;
    Indices &group = open[{item.shape, item.kind, item.elements}];
    group.push_back(index);
    if (int64_t(group.size()) < limits.ranks)
      continue;
    addGroup({group, ranks, limits.ranks * item.elements});
    group.clear();
  }
}

/// A group has items of one kind that follow each other in the model.
void OwnerPlanner::groupDifferent() {
  std::map<uint64_t, std::vector<Indices>> parts;
  std::map<uint64_t, int64_t> bytes;
  for (size_t index = 0; index < items.size(); ++index) {
    const BucketItem &item = items[index];
    const int64_t own = spaceOf(index) * item.elementBytes;
    if (!mayBeGrouped(index) || owners.items[index].group >= 0 || own > limits.bytes)
      continue;
    std::vector<Indices> &ofKind = parts[item.kind];
    int64_t &taken = bytes[item.kind];
    if (ofKind.empty() || taken > limits.bytes - own) {
      ofKind.emplace_back();
      taken = 0;
    }
    taken += own;
    ofKind.back().push_back(index);
  }
  for (auto &[kind, ofKind] : parts)
    for (Indices &part : ofKind)
      packAll(std::move(part));
}

void OwnerPlanner::packAll(Indices open) {
  std::stable_sort(open.begin(), open.end(),
                   [&](size_t a, size_t b) { return spaceOf(a) < spaceOf(b); });
  while (!open.empty()) {
    const Packed packed = packSome(open);
    if (packed.indices.empty())
      return;
    addGroup(packed);
    std::erase_if(open, [&](size_t index) { return owners.items[index].group >= 0; });
  }
}

/// A group of a range of `bySpace`: that with the most elements, and of these the one of the
/// largest items, beside which others find no space and which balance worst. Items that are much
/// larger or smaller than others fit into no equal slices.
OwnerPlanner::Packed OwnerPlanner::packSome(const Indices &bySpace) const {
  constexpr size_t kTries = 16;
  struct Range {
    int64_t elements;
    size_t first, end;
  };
  std::vector<Range> ranges;
  for (size_t first = 0; first < bySpace.size(); ++first) {
    Range range{0, first, first};
    while (range.end < bySpace.size()) {
      const size_t index = bySpace[range.end++];
      range.elements += items[index].elements;
      if (limits.ranks * spaceOf(index) - range.elements <= paddingOf(range.elements))
        ranges.push_back(range);
    }
  }
  std::stable_sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
    return std::pair(a.elements, a.first) > std::pair(b.elements, b.first);
  });
  Packed best;
  for (size_t i = 0; i < std::min(ranges.size(), kTries); ++i) {
    std::optional<Packed> packed = pack(Indices(bySpace.begin() + int64_t(ranges[i].first),
                                                bySpace.begin() + int64_t(ranges[i].end)));
    if (!packed)
      continue;
    if (way.fills)
      fill(*packed, bySpace);
    auto worth = [](const Packed &each) {
      return std::pair(each.elements, -int64_t(each.indices.size()));
    };
    if (worth(*packed) > worth(best))
      best = std::move(*packed);
  }
  return best;
}

/// Makes a group of all `indices` if slices need not be too large. Of several sizes takes the
/// smallest with balanced operations, else that with the best balance.
std::optional<OwnerPlanner::Packed> OwnerPlanner::pack(Indices indices) const {
  constexpr double kBalanced = 1.1;
  constexpr int kSizes = 8;
  const std::vector<Job> jobs = jobsOf(indices);
  int64_t elements = 0, largest = 0;
  for (size_t index : indices) {
    elements += items[index].elements;
    largest = std::max(largest, spaceOf(index));
  }
  const int64_t least = std::max(largest, (elements + limits.ranks - 1) / limits.ranks);
  const int64_t most = std::min((elements + paddingOf(elements)) / limits.ranks,
                                limits.bytes / items[indices.front()].elementBytes / limits.ranks);
  const double bound = leastOperations(jobs, limits.ranks, operations);
  std::optional<JobPlan> best;
  for (int size = 0; size <= kSizes && least <= most; ++size) {
    auto plan = assignJobs(jobs, limits.ranks, least + (most - least) * size / kSizes, operations);
    if (!plan || (best && plan->most >= best->most))
      continue;
    best = std::move(plan);
    if (best->most <= kBalanced * bound)
      break;
  }
  if (!best)
    return std::nullopt;
  return Packed{std::move(indices), std::move(best->ranks), elements};
}

/// Adds others of `bySpace`, the largest first, that fit into the slices as they are.
void OwnerPlanner::fill(Packed &packed, const Indices &bySpace) const {
  std::vector<int64_t> ends(size_t(limits.ranks), 0);
  std::vector<double> loads = operations;
  auto put = [&](size_t index, int64_t rank) {
    ends[size_t(rank)] += spaceOf(index);
    loads[size_t(rank)] += items[index].operations;
  };
  for (size_t i = 0; i < packed.indices.size(); ++i)
    put(packed.indices[i], packed.ranks[i]);
  const int64_t slice = *std::max_element(ends.begin(), ends.end());
  const std::set<size_t> inside(packed.indices.begin(), packed.indices.end());
  for (auto index = bySpace.rbegin(); index != bySpace.rend(); ++index) {
    int64_t rank = -1;
    for (int64_t each = 0; !inside.contains(*index) && each < limits.ranks; ++each)
      if (ends[size_t(each)] + spaceOf(*index) <= slice &&
          (rank < 0 || loads[size_t(each)] < loads[size_t(rank)]))
        rank = each;
    if (rank < 0)
      continue;
    packed.indices.push_back(*index);
    packed.ranks.push_back(rank);
    packed.elements += items[*index].elements;
    put(*index, rank);
  }
}

/// Distributes what is in no group so that all operations are balanced. A tensor that is used far
/// apart has a bucket of its own, as others without a group.
void OwnerPlanner::assignRest() {
  Indices rest;
  for (size_t index = 0; index < items.size(); ++index) {
    if (owners.items[index].group >= 0 || !items[index].isOwnable)
      continue;
    const bool isOwned = isWorthExchange(index);
    exchanged += (isOwned ? 2 : 1) * double(items[index].elements);
    if (isOwned)
      rest.push_back(index);
  }
  std::vector<Job> jobs = jobsOf(rest);
  for (Job &job : jobs)
    job.elements = 0; // its slices are on all ranks
  const JobPlan plan = *assignJobs(jobs, limits.ranks, 0, operations);
  for (size_t i = 0; i < rest.size(); ++i) {
    owners.items[rest[i]].rank = plan.ranks[i];
    operations[size_t(plan.ranks[i])] += jobs[i].operations;
  }
}

Owners planOwners(const std::vector<BucketItem> &items, const OwnerLimits &limits) {
  if (limits.ranks < 2)
    return {std::vector<Owner>(items.size()), {}};
  std::optional<OwnerPlanner> best;
  for (Way way : {Way{}, Way{.fills = true}, Way{.fills = true, .pads = true}}) {
    OwnerPlanner planner(items, limits, way);
    planner.plan();
    if (!best || planner.cost() < best->cost())
      best.emplace(std::move(planner));
  }
  return best->take();
}

} // namespace zero::planning
