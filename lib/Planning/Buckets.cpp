//===- Buckets.cpp - assign tensors to buckets ----------------------------===//

#include "zero/Planning/Buckets.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace zero::planning {

Repetition findLayers(const std::vector<BucketItem> &items) {
  std::map<std::tuple<uint64_t, uint64_t, int64_t, bool>, uint64_t> numbers;
  std::vector<uint64_t> symbols;
  std::vector<int64_t> bytes;
  for (const BucketItem &item : items) {
    auto key = std::make_tuple(item.shape, item.kind, item.elements, item.alone);
    symbols.push_back(numbers.try_emplace(key, numbers.size()).first->second);
    bytes.push_back(item.elements * item.elementBytes);
  }
  return findRepetition(symbols, bytes);
}

/// The layer of item `index`: 0 before the repetition, then 1, 2, .... The items after the last
/// complete layer form one more layer.
static int64_t layerOf(int64_t index, const Repetition &layers) {
  if (layers.period == 0 || index < layers.begin)
    return 0;
  int64_t whole = (layers.end - layers.begin) / layers.period;
  return 1 + std::min((index - layers.begin) / layers.period, whole);
}

Buckets planBuckets(const std::vector<BucketItem> &items, int64_t ranks, int64_t limit,
                    int64_t alignment, const Owners &owners) {
  auto roundUp = [](int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; };
  Repetition layers = findLayers(items);
  Buckets result;
  std::map<std::tuple<int64_t, uint64_t>, int64_t> open; // (layer, kind) -> bucket
  std::map<int64_t, int64_t> ofGroups;
  for (size_t index = 0; index < items.size(); ++index) {
    const BucketItem &item = items[index];
    if (!owners.items.empty() && owners.items[index].group >= 0) {
      const Owner &owner = owners.items[index];
      const int64_t slice = owners.slices[size_t(owner.group)];
      auto [it, isNew] = ofGroups.try_emplace(owner.group, result.elements.size());
      if (isNew)
        result.elements.push_back(slice * ranks);
      result.slots.push_back({it->second, owner.rank * slice + owner.start});
      continue;
    }
    auto key = std::make_tuple(layerOf(index, layers), item.kind);
    auto found = open.find(key);
    bool fits = found != open.end() &&
                (result.elements[found->second] + item.elements) * item.elementBytes <= limit;
    int64_t bucket = fits && !item.alone ? found->second : int64_t(result.elements.size());
    if (bucket == int64_t(result.elements.size()))
      result.elements.push_back(0);
    if (!item.alone)
      open[key] = bucket;
    result.slots.push_back({bucket, result.elements[bucket]});
    result.elements[bucket] = roundUp(result.elements[bucket] + item.elements, alignment);
  }
  for (int64_t &elements : result.elements)
    elements = roundUp(elements, ranks * alignment);
  return result;
}

} // namespace zero::planning
