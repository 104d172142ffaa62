//===- shadow.cpp - what each byte of an arena holds ----------------------===//

#include "runtime/core/shadow.h"

namespace zero::rt {

void Shadow::clear() {
  parts = {{0, Content()}};
  live = 0;
}

Shadow::Parts::iterator Shadow::cut(uint64_t at) {
  if (at >= bytes)
    return parts.end();
  auto it = std::prev(parts.upper_bound(at));
  return it->first == at ? it : parts.emplace_hint(std::next(it), at, it->second);
}

template <typename Change>
void Shadow::change(ByteRange range, Change change) {
  if (range.begin >= range.end)
    return;
  const auto end = cut(range.end);
  for (auto it = cut(range.begin); it != end; ++it) {
    const Content before = it->second;
    it->second = change(before);
    live += (endOf(it) - it->first) * (uint64_t(it->second.live) - uint64_t(before.live));
  }
}

void Shadow::write(ByteRange range, const Content &content) {
  if (range.begin >= range.end)
    return;
  const auto end = cut(range.end);
  const auto begin = cut(range.begin);
  for (auto it = begin; it != end; ++it)
    live -= it->second.live ? endOf(it) - it->first : 0;
  parts.erase(std::next(begin), end);
  begin->second = content;
  live += content.live ? range.size() : 0;
}

void Shadow::kill(ByteRange range) {
  change(range, [](Content content) {
    content.live = false;
    return content;
  });
}

void Shadow::rename(ByteRange range, uint32_t from, uint32_t to, uint64_t origin) {
  change(range, [&](Content content) {
    if (from == 0 || (content.live && content.value == from))
      content = {to, origin, content.writer, true};
    return content;
  });
}

} // namespace zero::rt
