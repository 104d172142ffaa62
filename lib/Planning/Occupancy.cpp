//===- Occupancy.cpp - occupied bytes over time ---------------------------===//

#include "Occupancy.h"

#include <algorithm>

namespace zero::planning {

void ByteRanges::add(int64_t begin, int64_t end) {
  auto from =
      std::lower_bound(ranges.begin(), ranges.end(), begin,
                       [](const auto &range, int64_t value) { return range.second < value; });
  auto to = from;
  for (; to != ranges.end() && to->first <= end; ++to) {
    begin = std::min(begin, to->first);
    end = std::max(end, to->second);
  }
  if (from == to)
    ranges.insert(from, {begin, end});
  else {
    *from = {begin, end};
    ranges.erase(from + 1, to);
  }
}

int64_t ByteRanges::lowestFree(int64_t offset, int64_t bytes) const {
  auto it = std::upper_bound(ranges.begin(), ranges.end(), offset,
                             [](int64_t value, const auto &range) { return value < range.second; });
  for (; it != ranges.end() && it->first < offset + bytes; ++it)
    offset = it->second;
  return offset;
}

Occupancy::Occupancy(int64_t slots) : slots(slots), nodes(4 * std::max<int64_t>(slots, 1)) {}

void Occupancy::clear() {
  for (Node &node : nodes) {
    node.throughout.clear();
    node.somewhere.clear();
  }
}

void Occupancy::collect(int64_t node, int64_t low, int64_t high, int64_t first,
                        int64_t last) const {
  bool spans = first <= low && high <= last;
  const ByteRanges &taken = spans ? nodes[node].somewhere : nodes[node].throughout;
  if (!taken.empty())
    met.push_back(&taken);
  if (spans)
    return;
  int64_t middle = (low + high) / 2;
  if (first <= middle)
    collect(2 * node, low, middle, first, last);
  if (middle < last)
    collect(2 * node + 1, middle + 1, high, first, last);
}

int64_t Occupancy::lowestFree(int64_t first, int64_t last, int64_t bytes) const {
  met.clear();
  collect(1, 0, slots - 1, first, last);
  int64_t offset = 0;
  for (size_t agree = 0, next = 0; agree < met.size(); next = (next + 1) % met.size()) {
    int64_t higher = met[next]->lowestFree(offset, bytes);
    agree = higher == offset ? agree + 1 : 1;
    offset = higher;
  }
  return offset;
}

void Occupancy::take(int64_t first, int64_t last, int64_t offset, int64_t bytes) {
  take(1, 0, slots - 1, first, last, offset, offset + bytes);
}

void Occupancy::take(int64_t node, int64_t low, int64_t high, int64_t first, int64_t last,
                     int64_t offset, int64_t end) {
  nodes[node].somewhere.add(offset, end);
  if (first <= low && high <= last) {
    nodes[node].throughout.add(offset, end);
    return;
  }
  int64_t middle = (low + high) / 2;
  if (first <= middle)
    take(2 * node, low, middle, first, last, offset, end);
  if (middle < last)
    take(2 * node + 1, middle + 1, high, first, last, offset, end);
}

} // namespace zero::planning
