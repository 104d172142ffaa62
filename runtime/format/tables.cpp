//===- tables.cpp - access to the tables of an executable -----------------===//

#include "runtime/format/tables.h"

namespace zero::rt {

/// The indices of the split dimension that `rank` holds: its share of the whole, or of each part.
std::vector<Selection::Interval> Block::sharesOf(int rank) const {
  const proto::Split &split = tensor->split();
  const auto shares = uint64_t(mesh.shares(split.axes()));
  const auto own = uint64_t(mesh.share(split.axes(), rank));
  std::vector<Selection::Interval> intervals;
  uint64_t begin = 0;
  auto add = [&](uint64_t extent) {
    const uint64_t each = extent / shares;
    intervals.push_back({begin + own * each, each});
    begin += extent;
  };
  for (const uint64_t part : split.parts())
    add(part);
  if (split.parts().empty())
    add(tensor->shape(int(split.dimension())));
  return intervals;
}

/// Of the indices in `intervals`, one after the other, those from number `tile.begin` on.
static std::vector<Selection::Interval> cutOut(const std::vector<Selection::Interval> &intervals,
                                               const Selection::Interval &tile) {
  std::vector<Selection::Interval> made;
  uint64_t before = 0;
  for (const Selection::Interval &each : intervals) {
    const uint64_t low = std::max(tile.begin, before);
    const uint64_t high = std::min(tile.begin + tile.extent, before + each.extent);
    if (low < high)
      made.push_back({each.begin + low - before, high - low});
    before += each.extent;
  }
  return made;
}

Selection Block::elementsOf(int rank) const {
  std::vector<Selection::Cut> cuts;
  if (tensor->has_split())
    cuts.push_back({tensor->split().dimension(), sharesOf(rank)});
  if (tile && !cuts.empty() && cuts[0].dimension == tensor->tile_axis())
    cuts[0].intervals = cutOut(cuts[0].intervals, *tile);
  else if (tile)
    cuts.push_back({tensor->tile_axis(), {*tile}});
  return {shapeOf(tensor->shape()), std::move(cuts)};
}

} // namespace zero::rt
