//===- shadow.cpp - what each byte of an arena holds ----------------------===//

#include "runtime/verify/shadow.h"

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

void Shadow::rename(ByteRange range, uint32_t from, uint32_t to, uint64_t origin) {
  if (range.begin >= range.end)
    return;
  const auto end = cut(range.end);
  for (auto it = cut(range.begin); it != end; ++it) {
    Content &content = it->second;
    if (from != 0 && !(content.live && content.value == from))
      continue;
    live += content.live ? 0 : endOf(it) - it->first;
    content = {to, origin, content.writer, true};
  }
}

} // namespace zero::rt
