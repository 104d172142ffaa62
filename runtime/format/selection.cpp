//===- selection.cpp - elements of a tensor -------------------------------===//

#include "runtime/format/selection.h"

#include "runtime/support/checked.h"

#include <algorithm>
#include <array>

namespace zero::rt {

using Intervals = std::vector<Selection::Interval>;

/// Joins those that are next to each other, and drops empty ones.
static Intervals joined(const Intervals &intervals) {
  Intervals made;
  for (const Selection::Interval &each : intervals) {
    if (each.extent == 0)
      continue;
    if (!made.empty() && made.back().begin + made.back().extent == each.begin)
      made.back().extent += each.extent;
    else
      made.push_back(each);
  }
  return made;
}

static uint64_t extentOf(const Intervals &intervals) {
  uint64_t sum = 0;
  for (const Selection::Interval &each : intervals)
    sum += each.extent;
  return sum;
}

Selection::Selection(std::span<const uint64_t> shape, std::vector<Cut> cuts) {
  bool isCut = true; // the last level
  for (uint32_t dimension = 0; dimension < shape.size(); ++dimension) {
    const auto cut = std::ranges::find(cuts, dimension, &Cut::dimension);
    Intervals intervals{{0, shape[dimension]}};
    if (cut != cuts.end())
      intervals = joined(cut->intervals);
    if (extentOf(intervals) < shape[dimension] || isCut || levels.empty())
      levels.push_back({1, 1, shape[dimension], intervals});
    else
      levels.back().indices = levels.back().intervals[0].extent = saturatingProduct<uint64_t>(
          std::array{levels.back().intervals[0].extent, shape[dimension]});
    isCut = extentOf(intervals) < shape[dimension];
    if (isCut)
      all.push_back({dimension, intervals});
  }
  count = 1;
  uint64_t elements = 1;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    level->inner = elements, level->selected = count;
    elements = saturatingProduct<uint64_t>(std::array{elements, level->indices});
    count = saturatingProduct<uint64_t>(std::array{count, extentOf(level->intervals)});
  }
}

uint64_t Selection::at(uint64_t i) const {
  uint64_t index = 0;
  if (count == 0)
    return 0;
  for (const Level &level : levels) {
    uint64_t rest = i / level.selected;
    i %= level.selected;
    auto interval = level.intervals.begin();
    for (; rest >= interval->extent && std::next(interval) != level.intervals.end(); ++interval)
      rest -= interval->extent;
    index += (interval->begin + rest) * level.inner;
  }
  return index;
}

uint64_t Selection::runFrom(uint64_t i) const {
  // From the innermost level outwards, as long as all of it is selected.
  uint64_t run = 1, behind = 0; // elements of the list for an index of the level; those before `i`
  for (size_t at = levels.size(); at-- > 0;) {
    const Level &level = levels[at];
    uint64_t rest = i / level.selected % std::max<uint64_t>(1, extentOf(level.intervals));
    for (const Interval &interval : level.intervals) {
      if (rest < interval.extent) {
        behind += rest * level.selected;
        run = interval.extent * level.selected;
        break;
      }
      rest -= interval.extent;
    }
    if (extentOf(level.intervals) < level.indices)
      break;
  }
  return run - behind;
}

uint64_t Selection::before(uint64_t index) const {
  uint64_t sum = 0;
  if (count == 0 || levels.empty()) // a scalar
    return std::min(index, count);
  for (const Level &level : levels) {
    const uint64_t position = index / level.inner;
    index %= level.inner;
    bool isSelected = false;
    for (const Interval &interval : level.intervals) {
      if (position >= interval.begin)
        sum += std::min(interval.extent, position - interval.begin) * level.selected;
      isSelected |= position >= interval.begin && position - interval.begin < interval.extent;
    }
    if (!isSelected)
      break;
  }
  return sum;
}

} // namespace zero::rt
