//===- shadow.cpp - contents of an arena's bytes --------------------------===//

#include "runtime/verify/shadow.h"

namespace zero::rt {

void Shadow::clear() {
  parts = {{0, Content()}};
  live = {};
}

Shadow::Parts::iterator Shadow::cut(uint64_t at) {
  if (at >= bytes)
    return parts.end();
  auto it = std::prev(parts.upper_bound(at));
  return it->first == at ? it : parts.emplace_hint(std::next(it), at, it->second);
}

void Shadow::write(ByteRange range, const Content &content) {
  if (range.begin >= range.end)
    return;
  const auto end = cut(range.end);
  const auto begin = cut(range.begin);
  for (auto it = begin; it != end; ++it)
    if (it->second.live)
      liveOf(it) -= endOf(it) - it->first;
  parts.erase(std::next(begin), end);
  begin->second = content;
  if (content.live)
    liveOf(begin) += range.size();
}

void Shadow::rename(ByteRange range, uint32_t from, uint32_t to, uint64_t origin, uint64_t time) {
  if (range.begin >= range.end)
    return;
  const auto end = cut(range.end);
  for (auto it = cut(range.begin); it != end; ++it) {
    Content &content = it->second;
    if (from != 0 && !(content.live && content.value == from))
      continue;
    if (!content.live)
      liveOf(it) += endOf(it) - it->first;
    content = {to, origin, content.writer, true, time ? time : content.time, content.version};
  }
}

bool Shadow::isSame(const Shadow &other, std::vector<std::pair<uint64_t, uint64_t>> &times) const {
  for (auto a = parts.begin(), b = other.parts.begin();
       a != parts.end() && b != other.parts.end();) {
    if (!a->second.isSame(b->second))
      return false;
    times.emplace_back(a->second.time, b->second.time);
    const uint64_t end = std::min(endOf(a), other.endOf(b));
    a = endOf(a) == end ? std::next(a) : a;
    b = other.endOf(b) == end ? std::next(b) : b;
  }
  return true;
}

} // namespace zero::rt
