//===- Owners.cpp - assign matrices to the ranks that update them ---------===//

#include "zero/Planning/Owners.h"

#include "zero/Planning/Buckets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
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

double leastOperations(const std::vector<Job> &jobs, int64_t ranks) {
  double sum = 0, largest = 0;
  for (const Job &job : jobs) {
    sum += job.operations;
    largest = std::max(largest, job.operations);
  }
  return std::max(largest, sum / double(ranks));
}

namespace {

/// Makes groups of items until nothing is left that forms one.
class OwnerPlanner {
public:
  OwnerPlanner(const std::vector<BucketItem> &items, const OwnerLimits &limits)
      : items(items), limits(limits) {
    owners.items.resize(items.size());
    int64_t elements = 0;
    for (const BucketItem &item : items)
      elements += item.elements;
    allowance = int64_t(limits.padding * double(elements));
  }

  Owners plan() {
    groupEqual();
    groupDifferent();
    // Slices that cut what is left would exchange each of its elements once more.
    allowance = std::numeric_limits<int64_t>::max();
    groupDifferent();
    assignRest();
    return std::move(owners);
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
  void packAll(Indices open);
  Indices packSome(const Indices &bySpace);
  bool pack(const Indices &indices);
  void addGroup(const Indices &indices, const std::vector<int64_t> &ranks);

  const std::vector<BucketItem> &items;
  const OwnerLimits &limits;
  Owners owners;
  int64_t allowance; ///< elements of padding that more groups may add
};

} // namespace

std::vector<Job> OwnerPlanner::jobsOf(const Indices &indices) const {
  std::vector<Job> jobs;
  for (size_t index : indices)
    jobs.push_back(jobOf(index));
  return jobs;
}

void OwnerPlanner::addGroup(const Indices &indices, const std::vector<int64_t> &ranks) {
  std::vector<int64_t> ends(size_t(limits.ranks), 0);
  int64_t elements = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t &end = ends[size_t(ranks[i])];
    owners.items[indices[i]] = {ranks[i], int64_t(owners.slices.size()), end};
    end += spaceOf(indices[i]);
    elements += items[indices[i]].elements;
  }
  const int64_t slice = *std::max_element(ends.begin(), ends.end());
  owners.slices.push_back(slice);
  allowance -= slice * limits.ranks - elements;
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
    addGroup(group, ranks);
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
    const Indices packed = packSome(open);
    if (packed.empty())
      return;
    std::erase_if(open, [&](size_t index) {
      return std::find(packed.begin(), packed.end(), index) != packed.end();
    });
  }
}

/// Makes one group of a range of `bySpace`, that with the most elements and of these the one of
/// the largest items, beside which others find no space. Items that are much larger or smaller than
/// others fit into no equal slices.
OwnerPlanner::Indices OwnerPlanner::packSome(const Indices &bySpace) {
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
  for (size_t i = 0; i < std::min(ranges.size(), kTries); ++i) {
    Indices indices(bySpace.begin() + int64_t(ranges[i].first),
                    bySpace.begin() + int64_t(ranges[i].end));
    if (pack(indices))
      return indices;
  }
  return {};
}

/// Makes a group of all `indices` if slices need not be too large. Of several sizes takes the
/// smallest with balanced operations, else that with the best balance.
bool OwnerPlanner::pack(const Indices &indices) {
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
  const double bound = leastOperations(jobs, limits.ranks);
  std::optional<JobPlan> best;
  for (int size = 0; size <= kSizes && least <= most; ++size) {
    auto plan = assignJobs(jobs, limits.ranks, least + (most - least) * size / kSizes);
    if (!plan || (best && plan->most >= best->most))
      continue;
    best = std::move(plan);
    if (best->most <= kBalanced * bound)
      break;
  }
  if (!best)
    return false;
  addGroup(indices, best->ranks);
  return true;
}

/// Distributes what is in no group so that all operations are balanced. A tensor that is used far
/// apart has a bucket of its own, as others without a group.
void OwnerPlanner::assignRest() {
  std::vector<double> before(size_t(limits.ranks), 0);
  Indices rest;
  for (size_t index = 0; index < items.size(); ++index) {
    if (owners.items[index].group >= 0)
      before[size_t(owners.items[index].rank)] += items[index].operations;
    else if (items[index].isOwnable && isWorthExchange(index))
      rest.push_back(index);
  }
  std::vector<Job> jobs = jobsOf(rest);
  for (Job &job : jobs)
    job.elements = 0; // its slices are on all ranks
  const JobPlan plan = *assignJobs(jobs, limits.ranks, 0, std::move(before));
  for (size_t i = 0; i < rest.size(); ++i)
    owners.items[rest[i]].rank = plan.ranks[i];
}

Owners planOwners(const std::vector<BucketItem> &items, const OwnerLimits &limits) {
  if (limits.ranks < 2)
    return {std::vector<Owner>(items.size()), {}};
  return OwnerPlanner(items, limits).plan();
}

Homes planHomes(const std::vector<WholeState> &states, int64_t alignment) {
  std::vector<size_t> order(states.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return states[a].elements > states[b].elements; });
  using Key = std::pair<int64_t, int64_t>; // group, and rank or number
  std::map<Key, int64_t> counts;
  std::map<Key, size_t> numbers;
  Homes homes{std::vector<size_t>(states.size()), {}};
  for (size_t index : order) {
    const WholeState &state = states[index];
    const int64_t number = counts[{state.group, state.rank}]++;
    auto [home, isNew] = numbers.try_emplace({state.group, number}, homes.slices.size());
    if (isNew) // the largest one comes first
      homes.slices.push_back(roundUp(state.elements, alignment));
    homes.states[index] = home->second;
  }
  return homes;
}

} // namespace zero::planning
