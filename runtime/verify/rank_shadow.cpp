//===- rank_shadow.cpp - contents of all ranks' bytes ---------------------===//

#include "runtime/verify/rank_shadow.h"

#include <vector>

namespace zero::rt {

using Parts = std::vector<std::pair<ByteRange, Content>>;

static void writeAll(Shadow &contents, const Parts &parts) {
  for (const auto &[part, content] : parts)
    contents.write(part, content);
}

/// In `range` of `slices`, contents that equal `from` become unknown.
static void blur(Shadow &slices, ByteRange range, uint32_t from) {
  Parts blurred;
  slices.forEach(range, [&](ByteRange part, Content content) {
    if (!content.live || content.value != from)
      return;
    content.value = kNoValue;
    blurred.emplace_back(part, content);
  });
  writeAll(slices, blurred);
}

/// The places on the first rank of slices of `strides` that are, on every rank, in `range`, which
/// all ranks share.
ByteRange RankShadow::inside(ByteRange range, const PerAxis &strides) const {
  const uint64_t begin = range.begin + uint64_t(-mesh.leastShift(strides));
  const uint64_t end = range.end - std::min(range.end, uint64_t(mesh.mostShift(strides)));
  return {begin, std::max(begin, end)};
}

ByteRange RankShadow::common(const RankRange &one, const RankRange &other) const {
  const bool alike = one.strides == other.strides;
  const ByteRange a = alike ? ByteRange(one) : reach(one);
  const ByteRange b = alike ? ByteRange(other) : reach(other);
  const uint64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

void RankShadow::clear() {
  shared.clear();
  slices.clear();
  clock = 0;
}

void RankShadow::write(RankRange range, Content content) {
  content.time = ++clock;
  if (!range.isShared()) {
    content.live = true; // if dead, the layer below would be visible
    slices.try_emplace(range.strides, bytes).first->second.write(range, content);
    return;
  }
  shared.write(range, content);
  for (auto &[strides, layer] : slices) // these are no longer visible
    if (!layer.isDead())
      layer.kill(inside(range, strides));
}

void RankShadow::rename(RankRange range, uint32_t from, uint32_t to, uint64_t origin) {
  if (range.begin >= range.end)
    return;
  if (!range.isShared())
    return renameSlices(range, from, to, origin);
  shared.rename(range, from, to, origin, from == 0 ? ++clock : 0);
  for (auto &[strides, layer] : slices) {
    if (from == 0 || layer.isDead()) // all is as new
      continue;
    const ByteRange touched = touching(range, strides), all = inside(range, strides);
    if (all.size() > 0)
      layer.rename(all, from, to, origin);
    blur(layer, {touched.begin, all.size() > 0 ? all.begin : touched.end}, from);
    blur(layer, {all.size() > 0 ? all.end : touched.end, touched.end}, from);
  }
}

/// Renames the contents of slices on all ranks, on none, or on some.
void RankShadow::renameSlices(RankRange range, uint32_t from, uint32_t to, uint64_t origin) {
  Shadow &own = slices.try_emplace(range.strides, bytes).first->second;
  Parts made;
  ++clock;
  own.forEach(range, [&](ByteRange part, const Content &) {
    bool some = from == 0, all = true;
    Content renamed{to, origin, Content::Nobody, true, clock};
    forEach({part, range.strides}, [&](ByteRange, const Content &found) {
      const bool isIt = from == 0 || (found.live && found.value == from);
      some |= isIt, all &= isIt;
      renamed.writer = isIt ? found.writer : renamed.writer;
    });
    renamed.value = all ? to : kNoValue;
    if (some)
      made.emplace_back(part, renamed);
  });
  writeAll(own, made);
}

/// In addition to the contents, compares which of them was written later where slices may overlap
/// ranges that all ranks share.
bool RankShadow::isSame(const RankShadow &other) const {
  const Shadow none(bytes);
  std::vector<std::pair<uint64_t, uint64_t>> times;
  if (!shared.isSame(other.shared, times))
    return false;
  for (const auto &[strides, layer] : slices) {
    const Shadow *own = other.slicesOf(strides);
    if (!layer.isSame(own ? *own : none, times))
      return false;
  }
  for (const auto &[strides, layer] : other.slices)
    if (!slicesOf(strides) && !layer.isDead())
      return false;
  std::sort(times.begin(), times.end());
  return slices.empty() || std::is_sorted(times.begin(), times.end(),
                                          [](auto &a, auto &b) { return a.second < b.second; });
}

} // namespace zero::rt
