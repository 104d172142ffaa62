//===- mixture.cpp - samples of several data sets by weight ---------------===//

#include "runtime/io/mixture.h"

#include <algorithm>
#include <numeric>

namespace zero::rt {

/// Positions of a cycle: shares are multiples of their inverse.
static constexpr uint64_t kCycle = 10'000;

/// The positions of a cycle that each part gets: its share rounded down, and one more for those
/// that lose most by that. At least one.
static std::vector<uint64_t> divide(std::span<const Mixture::Part> parts) {
  double sum = 0;
  for (const Mixture::Part &part : parts)
    sum += part.weight;
  std::vector<uint64_t> counts;
  std::vector<double> lost;
  for (const Mixture::Part &part : parts) {
    const double share = part.weight / sum * double(kCycle);
    counts.push_back(std::max<uint64_t>(1, uint64_t(share)));
    lost.push_back(share - double(counts.back()));
  }
  while (std::accumulate(counts.begin(), counts.end(), uint64_t(0)) < kCycle) {
    const auto most = size_t(std::ranges::max_element(lost) - lost.begin());
    ++counts[most];
    lost[most] -= 1;
  }
  return counts;
}

Mixture::Mixture(std::span<const Part> parts, std::optional<uint64_t> seed, uint64_t window)
    : perCycle(divide(parts)) {
  for (size_t i = 0; i < parts.size(); ++i)
    orders.emplace_back(parts[i].samples, 1, seed ? std::optional(*seed + i) : seed, 0, window);
  // The part that is most behind its share comes next.
  const auto length = std::accumulate(perCycle.begin(), perCycle.end(), uint64_t(0));
  std::vector<int64_t> behind(parts.size(), 0);
  std::vector<uint32_t> used(parts.size(), 0);
  for (uint64_t position = 0; position < length; ++position) {
    for (size_t i = 0; i < parts.size(); ++i)
      behind[i] += int64_t(perCycle[i]);
    const auto next = size_t(std::ranges::max_element(behind) - behind.begin());
    behind[next] -= int64_t(length);
    cycle.push_back({uint32_t(next), used[next]++});
  }
}

Mixture::Place Mixture::at(uint64_t position) const {
  const Slot &slot = cycle[position % cycle.size()];
  const uint64_t sample = position / cycle.size() * perCycle[slot.part] + slot.before;
  return {slot.part, orders[slot.part].sample(sample, 0)};
}

} // namespace zero::rt
