//===- ranges.h - sets of bytes ---------------------------------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_RANGES_H
#define RUNTIME_FORMAT_RANGES_H

#include "runtime/support/mesh.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace zero::rt {

/// Bytes [begin, end) of an arena.
struct ByteRange {
  uint64_t begin = 0, end = 0;
  uint64_t size() const { return end - begin; }
};

/// A range on many ranks. With each coordinate along an axis it is the stride of the axis further
/// on.
struct RankRange : ByteRange {
  RankRange(ByteRange range, const PerAxis &strides = {}) : ByteRange(range), strides(strides) {}
  RankRange() = default;
  PerAxis strides{};

  /// Whether it is the same on all ranks.
  bool isShared() const { return strides == PerAxis{}; }
};

/// The bytes from the first to the last one that any rank of `mesh` has in `range`. With negated
/// strides: the range of the first rank whose ranges on other ranks may overlap these bytes.
inline ByteRange reachOf(const RankRange &range, const Mesh &mesh) {
  const auto before = uint64_t(-mesh.leastShift(range.strides));
  return {range.begin - std::min(range.begin, before),
          range.end + uint64_t(mesh.mostShift(range.strides))};
}

/// A set of bytes as ranges that do not touch.
class RangeSet {
public:
  void add(ByteRange range) {
    if (range.begin >= range.end)
      return;
    auto it = firstFrom(range.begin);
    while (it != ranges.end() && it->first <= range.end) {
      range = {std::min(range.begin, it->first), std::max(range.end, it->second)};
      it = ranges.erase(it);
    }
    ranges.emplace(range.begin, range.end);
  }

  void remove(ByteRange range) {
    auto it = firstFrom(range.begin);
    while (it != ranges.end() && it->first < range.end) {
      const ByteRange found{it->first, it->second};
      it = ranges.erase(it);
      if (found.begin < range.begin)
        ranges.emplace(found.begin, range.begin);
      if (found.end > range.end)
        ranges.emplace(range.end, found.end);
    }
  }

  /// Calls body(ByteRange) for each part of `range` that is not in the set.
  template <typename Body>
  void forEachGap(ByteRange range, Body body) const {
    auto it = firstFrom(range.begin);
    for (; range.begin < range.end; ++it) {
      const bool isLast = it == ranges.end() || it->first >= range.end;
      const uint64_t end = isLast ? range.end : it->first;
      if (range.begin < end)
        body(ByteRange{range.begin, end});
      if (isLast)
        return;
      range.begin = std::max(range.begin, it->second);
    }
  }

private:
  using Map = std::map<uint64_t, uint64_t>; ///< begin -> end

  /// The first range that ends at `at` or later.
  template <typename Ranges>
  static auto find(Ranges &ranges, uint64_t at) {
    auto it = ranges.upper_bound(at);
    if (it != ranges.begin() && std::prev(it)->second >= at)
      --it;
    return it;
  }
  Map::iterator firstFrom(uint64_t at) { return find(ranges, at); }
  Map::const_iterator firstFrom(uint64_t at) const { return find(ranges, at); }

  Map ranges;
};

} // namespace zero::rt

#endif // RUNTIME_FORMAT_RANGES_H
