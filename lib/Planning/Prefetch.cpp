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

/// The indices of fetches in the order in which they are needed.
static std::vector<size_t> orderByNeed(const std::vector<Fetch> &fetches) {
  std::vector<size_t> order(fetches.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return fetches[a].needed < fetches[b].needed; });
  return order;
}

namespace {
/// When links are used, from the end of the step backwards.
class Links {
public:
  explicit Links(const std::vector<double> &starts) : starts(starts) {}

  /// Reserves `link` for `seconds` that end at `deadline` at the latest. Returns the latest time to
  /// start, which may be before command `earliest`, where the use can start.
  double reserve(int link, double seconds, double deadline, int64_t earliest) {
    Use &use = useOf(link);
    use.idle += std::max(use.from - deadline, 0.0);
    const double latest = std::min(deadline, use.from) - seconds;
    use.from = std::min(use.from, std::max(latest, starts[earliest]));
    return latest;
  }

  /// Reserves `link` for `seconds` that start at `release` at the earliest: before what follows,
  /// else while the link would be idle, else what follows has to start earlier.
  void occupy(int link, double seconds, double release) {
    Use &use = useOf(link);
    const double before = std::clamp(use.from - release, 0.0, seconds);
    const double within = std::min(seconds - before, use.idle);
    use.idle -= within;
    use.from -= seconds - within;
  }

private:
  struct Use {
    double from = 0; ///< when the uses that follow start
    double idle = 0; ///< seconds between them
  };
  Use &useOf(int link) {
    if (size_t(link) >= uses.size())
      uses.resize(link + 1, {starts.back(), 0});
    return uses[link];
  }

  const std::vector<double> &starts;
  std::vector<Use> uses; ///< by link
};
} // namespace

/// For each fetch, the latest time to start it such that it and all that follow on its link are in
/// time, whatever memory they need. A link serves the transfers that are not placed where they
/// would start if all fetches started in time for their own command.
static std::vector<double> latestStarts(const Timeline &timeline, const std::vector<double> &starts,
                                        const std::vector<Fetch> &fetches,
                                        const std::vector<size_t> &order) {
  std::vector<double> latest(fetches.size());
  Links links(starts);
  auto other = timeline.occupations.rbegin();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Fetch &fetch = fetches[*it];
    const double deadline = starts[fetch.needed] - fetch.margin;
    for (; other != timeline.occupations.rend() && starts[other->from] > deadline - fetch.seconds;
         ++other)
      links.occupy(other->link, other->seconds, starts[other->from]);
    latest[*it] = links.reserve(fetch.link, fetch.seconds, deadline, fetch.earliest);
  }
  return latest;
}

std::vector<int64_t> placeFetches(const Timeline &timeline, const std::vector<Fetch> &fetches,
                                  int64_t budget) {
  const std::vector<double> starts = startsOf(timeline.seconds);
  const std::vector<size_t> order = orderByNeed(fetches);
  const std::vector<double> latest = latestStarts(timeline, starts, fetches, order);
  std::vector<int64_t> live = timeline.live, begins(fetches.size());
  std::vector<int64_t> before; ///< by link: where the fetch before starts
  for (size_t index : order) {
    const Fetch &fetch = fetches[index];
    if (size_t(fetch.link) >= before.size())
      before.resize(fetch.link + 1, 0);
    int64_t begin = fetch.needed;
    const int64_t least = std::max(fetch.earliest, before[fetch.link]);
    while (begin > least && starts[begin] > latest[index] &&
           live[begin - 1] + fetch.bytes <= budget)
      live[--begin] += fetch.bytes;
    before[fetch.link] = begins[index] = begin;
  }
  return begins;
}

} // namespace zero::planning
