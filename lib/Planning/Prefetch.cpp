//===- Prefetch.cpp - start times of transfers ----------------------------===//

#include "zero/Planning/Prefetch.h"

#include <algorithm>
#include <numeric>

namespace zero::planning {

/// When each command begins, and when the last one ends.
static std::vector<double> startsOf(const std::vector<double> &seconds) {
  std::vector<double> starts(seconds.size() + 1, 0);
  std::partial_sum(seconds.begin(), seconds.end(), starts.begin() + 1);
  return starts;
}

std::vector<int64_t> placeFetches(const Timeline &timeline, const std::vector<Fetch> &fetches,
                                  int64_t budget) {
  const std::vector<double> starts = startsOf(timeline.seconds);
  std::vector<int64_t> live = timeline.live, begins(fetches.size());
  std::vector<size_t> order(fetches.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return fetches[a].needed > fetches[b].needed; });
  std::vector<double> busyFrom; ///< by link: when the fetch that follows begins
  for (size_t index : order) {
    const Fetch &fetch = fetches[index];
    if (size_t(fetch.link) >= busyFrom.size())
      busyFrom.resize(fetch.link + 1, starts.back());
    double &free = busyFrom[fetch.link];
    const double latest = std::min(starts[fetch.needed] - fetch.margin, free) - fetch.seconds;
    int64_t begin = fetch.needed;
    while (begin > fetch.earliest && starts[begin] > latest &&
           live[begin - 1] + fetch.bytes <= budget)
      live[--begin] += fetch.bytes;
    begins[index] = begin;
    free = std::min(free, std::max(latest, starts[begin]));
  }
  // A link serves what begins first: what is needed sooner must not stand behind.
  std::vector<int64_t> last(busyFrom.size(), 0);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    int64_t &before = last[fetches[*it].link];
    before = begins[*it] = std::max(begins[*it], before);
  }
  return begins;
}

} // namespace zero::planning
