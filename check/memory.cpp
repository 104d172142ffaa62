//===- memory.cpp - contents of an arena ----------------------------------===//

#include "check/memory.h"

namespace zero::check {

void append(Slices &slices, Slice slice) {
  if (slice.size == 0)
    return;
  Slice *last = slices.empty() ? nullptr : &slices.back();
  if (last && last->term == slice.term &&
      (slice.term == 0 || last->offset + last->size == slice.offset))
    last->size += slice.size;
  else
    slices.push_back(slice);
}

Slices sliceOf(const Slices &values, int64_t begin, int64_t size) {
  Slices found;
  for (const Slice &value : values) {
    const int64_t from = std::max<int64_t>(0, begin), to = std::min(value.size, begin + size);
    if (from < to)
      append(found, {value.term, value.term ? value.offset + from : 0, to - from});
    begin -= value.size;
  }
  return found;
}

Memory::Pieces::const_iterator Memory::firstFrom(int64_t begin) const {
  auto it = pieces.upper_bound(begin);
  return it != pieces.begin() && std::prev(it)->second.end > begin ? std::prev(it) : it;
}

Slices Memory::read(int64_t begin, int64_t size) const {
  Slices found;
  const int64_t end = begin + size;
  auto it = firstFrom(begin);
  for (; it != pieces.end() && it->first < end; ++it) {
    const auto &[first, piece] = *it;
    if (first > begin)
      append(found, {0, 0, first - begin});
    begin = std::max(begin, first);
    const int64_t last = std::min(end, piece.end);
    append(found, {piece.term, piece.term ? piece.offset + begin - first : 0, last - begin});
    begin = last;
  }
  append(found, {0, 0, end - begin});
  return found;
}

int32_t Memory::writerOf(int64_t place) const {
  auto it = firstFrom(place);
  return it != pieces.end() && it->first <= place ? it->second.writer : -1;
}

void Memory::erase(int64_t begin, int64_t end) {
  auto it = firstFrom(begin);
  while (it != pieces.end() && it->first < end) {
    const int64_t first = it->first;
    const Piece piece = it->second;
    it = pieces.erase(it);
    if (first < begin)
      pieces.emplace_hint(it, first, Piece{begin, piece.term, piece.offset, piece.writer});
    if (piece.end > end)
      pieces.emplace_hint(it, end,
                          Piece{piece.end, piece.term, piece.offset + end - first, piece.writer});
  }
}

void Memory::write(int64_t begin, const Slices &values, int32_t writer) {
  for (const Slice &value : values) {
    if (value.size == 0)
      continue;
    erase(begin, begin + value.size);
    pieces[begin] = {begin + value.size, value.term, value.offset, writer};
    begin += value.size;
  }
}

} // namespace zero::check
