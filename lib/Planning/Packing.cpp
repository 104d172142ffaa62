//===- Packing.cpp - lifetimes to offsets in one arena --------------------===//

#include "zero/Planning/Packing.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace zero::planning {

std::vector<std::pair<int64_t, int64_t>> liveBytes(const std::vector<Lifetime> &lifetimes,
                                                   int64_t alignment) {
  std::map<int64_t, int64_t> change;
  for (const Lifetime &lifetime : lifetimes) {
    int64_t bytes = alignUp(lifetime.bytes, alignment);
    change[lifetime.begin] += bytes;
    change[lifetime.end + 1] -= bytes;
  }
  std::vector<std::pair<int64_t, int64_t>> live;
  int64_t sum = 0;
  for (auto [command, bytes] : change)
    live.emplace_back(command, sum += bytes);
  return live;
}

namespace {

/// Places lifetimes one after another at the lowest offset that is free.
class FirstFit {
public:
  FirstFit(const std::vector<Lifetime> &lifetimes, int64_t alignment)
      : lifetimes(lifetimes), alignment(alignment), offsets(lifetimes.size(), 0) {}

  void place(size_t index) {
    const Lifetime &lifetime = lifetimes[index];
    int64_t bytes = alignUp(lifetime.bytes, alignment);
    if (bytes == 0)
      return;
    int64_t offset = 0;
    for (size_t other : byOffset) {
      const Lifetime &placed = lifetimes[other];
      if (placed.end < lifetime.begin || lifetime.end < placed.begin)
        continue;
      if (offsets[other] >= offset + bytes)
        break;
      offset = std::max(offset, offsets[other] + alignUp(placed.bytes, alignment));
    }
    offsets[index] = offset;
    top = std::max(top, offset + bytes);
    auto position =
        std::upper_bound(byOffset.begin(), byOffset.end(), offset,
                         [&](int64_t value, size_t other) { return value < offsets[other]; });
    byOffset.insert(position, index);
  }

  std::vector<int64_t> takeOffsets() { return std::move(offsets); }
  int64_t bytes() const { return top; }

private:
  const std::vector<Lifetime> &lifetimes;
  int64_t alignment;
  std::vector<int64_t> offsets;
  std::vector<size_t> byOffset;
  int64_t top = 0;
};

} // namespace

Packing pack(const std::vector<Lifetime> &lifetimes, int64_t alignment) {
  Packing best;
  for (auto [command, bytes] : liveBytes(lifetimes, alignment))
    if (bytes > best.lowerBound) {
      best.lowerBound = bytes;
      best.peak = command;
    }

  auto length = [&](size_t i) { return lifetimes[i].end - lifetimes[i].begin; };
  auto size = [&](size_t i) { return lifetimes[i].bytes; };
  auto tryOrder = [&](auto before) {
    if (!best.offsets.empty() && best.bytes == best.lowerBound)
      return;
    std::vector<size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), before);
    FirstFit fit(lifetimes, alignment);
    for (size_t index : order)
      fit.place(index);
    if (best.offsets.empty() || fit.bytes() < best.bytes) {
      best.bytes = fit.bytes();
      best.offsets = fit.takeOffsets();
    }
  };
  tryOrder([&](size_t a, size_t b) { return size(a) > size(b); });
  tryOrder([&](size_t a, size_t b) {
    return length(a) != length(b) ? length(a) > length(b) : size(a) > size(b);
  });
  tryOrder([&](size_t a, size_t b) {
    return double(length(a) + 1) * size(a) > double(length(b) + 1) * size(b);
  });
  tryOrder([&](size_t a, size_t b) { return lifetimes[a].begin < lifetimes[b].begin; });
  return best;
}

} // namespace zero::planning
