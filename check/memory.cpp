//===- memory.cpp - contents of an arena ----------------------------------===//

#include "check/memory.h"

#include <algorithm>

namespace zero::check {

int64_t sizeOf(const Slices &slices) {
  int64_t size = 0;
  for (const Slice &slice : slices)
    size += slice.size;
  return size;
}

void append(Slices &slices, Slice slice) {
  if (slice.size == 0)
    return;
  Slice *last = slices.empty() ? nullptr : &slices.back();
  if (last && last->term == slice.term && last->from(last->size).offset == slice.offset)
    last->size += slice.size;
  else
    slices.push_back(slice);
}

Slices sliceOf(const Slices &values, int64_t begin, int64_t size) {
  Slices found;
  for (const Slice &value : values) {
    const int64_t from = std::max<int64_t>(0, begin), to = std::min(value.size, begin + size);
    if (from < to) {
      Slice part = value.from(from);
      part.size = to - from;
      append(found, part);
    }
    begin -= value.size;
  }
  return found;
}

Value::Value(std::vector<Slices> ofRanks) : lists(std::move(ofRanks)) {
  if (std::all_of(lists.begin(), lists.end(),
                  [&](const Slices &slices) { return slices == lists[0]; }))
    lists.resize(1);
}

Slices Memory::readOn(int rank, int64_t begin, int64_t size) const {
  Slices found;
  const int64_t end = begin + size;
  auto it = pieces.firstFrom(begin);
  for (; it != pieces.map.end() && it->first < end; ++it) {
    const auto &[first, piece] = *it;
    if (first > begin)
      append(found, {kNone, 0, first - begin});
    begin = std::max(begin, first);
    const int64_t last = std::min(end, piece.end);
    Piece rest = piece;
    rest.advance(begin - first);
    rest.value.size = last - begin;
    if (piece.ofRanks)
      for (const Slice &slice :
           sliceOf((*piece.ofRanks)[size_t(rank)], rest.value.offset, last - begin))
        append(found, slice);
    else
      append(found, rest.value);
    begin = last;
  }
  append(found, {kNone, 0, end - begin});
  return found;
}

Value Memory::read(int64_t begin, int64_t size) const {
  size_t lists = 1;
  for (auto it = pieces.firstFrom(begin); it != pieces.map.end() && it->first < begin + size; ++it)
    if (it->second.ofRanks)
      lists = it->second.ofRanks->size();
  std::vector<Slices> found;
  for (size_t rank = 0; rank < lists; ++rank)
    found.push_back(readOn(int(rank), begin, size));
  return Value(std::move(found));
}

int32_t Memory::writerOf(int64_t place) const {
  auto it = pieces.firstFrom(place);
  return it != pieces.map.end() && it->first <= place ? it->second.writer : -1;
}

void Memory::write(int64_t begin, const Value &value, int32_t writer) {
  const int64_t size = sizeOf(value.on(0));
  pieces.cut(begin, begin + size);
  pieces.map.erase(pieces.map.lower_bound(begin), pieces.map.lower_bound(begin + size));
  if (!value.isAlike() && size > 0) {
    pieces.map[begin] = {
        begin + size, {}, writer, std::make_shared<const std::vector<Slices>>(value.all())};
    return;
  }
  for (const Slice &slice : value.on(0)) {
    if (slice.size > 0)
      pieces.map[begin] = {begin + slice.size, slice, writer, nullptr};
    begin += slice.size;
  }
}

} // namespace zero::check
