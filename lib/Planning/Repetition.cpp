//===- Repetition.cpp - the repeated structure of a sequence --------------===//

#include "zero/Planning/Repetition.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace zero::planning {

/// How many periods are tried at most, and how many earlier occurrences of a symbol
/// propose one: a symbol may come several times in a layer.
static constexpr size_t kMostPeriods = 64;
static constexpr size_t kMostOccurrences = 8;

/// The periods to try, ascending.
static std::vector<int64_t> likelyPeriods(const std::vector<uint64_t> &symbols,
                                          const std::vector<int64_t> &weights) {
  const int64_t most = symbols.size() / 2;
  std::vector<int64_t> periods;
  if (size_t(most) <= kMostPeriods) {
    for (int64_t period = 1; period <= most; ++period)
      periods.push_back(period);
    return periods;
  }
  std::unordered_map<uint64_t, std::deque<int64_t>> seen;
  std::unordered_map<int64_t, int64_t> matched; // weight of equal elements, by distance
  for (int64_t i = 0; i < int64_t(symbols.size()); ++i) {
    std::deque<int64_t> &earlier = seen[symbols[i]];
    for (int64_t at : earlier)
      if (i - at <= most)
        matched[i - at] += weights[i] + 1;
    earlier.push_back(i);
    if (earlier.size() > kMostOccurrences)
      earlier.pop_front();
  }
  std::vector<std::pair<int64_t, int64_t>> ranked;
  ranked.reserve(matched.size());
  for (auto [period, weight] : matched)
    ranked.emplace_back(-weight, period);
  std::sort(ranked.begin(), ranked.end());
  ranked.resize(std::min(ranked.size(), kMostPeriods));
  for (auto [weight, period] : ranked)
    periods.push_back(period);
  std::sort(periods.begin(), periods.end());
  return periods;
}

Repetition findRepetition(const std::vector<uint64_t> &symbols,
                          const std::vector<int64_t> &weights) {
  Repetition best;
  int64_t bestWeight = 0;
  const int64_t count = symbols.size();
  for (int64_t period : likelyPeriods(symbols, weights)) {
    int64_t run = 0; // matches ending at i
    int64_t weight = 0;
    for (int64_t i = 0; i + period < count; ++i) {
      if (symbols[i] != symbols[i + period]) {
        run = weight = 0;
        continue;
      }
      ++run;
      weight += weights[i];
      if (run >= period && weight > bestWeight) {
        bestWeight = weight;
        best = {i + 1 - run, period, i + 1 + period};
      }
    }
  }
  return best;
}

} // namespace zero::planning
