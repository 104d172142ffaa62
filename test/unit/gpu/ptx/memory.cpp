//===- memory.cpp - memory that knows who used it -------------------------===//

#include "memory.h"
#include "program.h"

#include <algorithm>
#include <cstring>

namespace ptx {

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

[[gnu::always_inline]] static bool isSameWarp(const Record &record, const Access &who) {
  return record.thread / kLanes == who.thread / kLanes;
}

/// Whether nothing orders `record` before the access of `who`.
[[gnu::always_inline]] static bool races(const Record &record, const Access &who) {
  if (record.phase < who.since)
    return false;
  if (record.phase < who.block || record.manyBlocks)
    return true;
  if (record.phase < who.phase)
    return false;
  if (record.manyWarps || !isSameWarp(record, who))
    return true;
  return record.epoch == who.epoch && (record.manyThreads || record.thread != who.thread);
}

[[gnu::always_inline]] static Record recordOf(const Access &who) {
  return {.phase = who.phase, .thread = who.thread, .epoch = who.epoch};
}

/// Adds the read of `who` to `reads`.
[[gnu::always_inline]] static void join(Record &reads, const Access &who) {
  Record joined = recordOf(who);
  if (reads.phase >= who.since) {
    joined.manyBlocks = reads.phase < who.block || reads.manyBlocks;
    if (reads.phase == who.phase) {
      joined.manyWarps = reads.manyWarps || !isSameWarp(reads, who);
      joined.manyThreads =
          reads.epoch == who.epoch && (reads.manyThreads || reads.thread != who.thread);
    }
  }
  reads = joined;
}

//===----------------------------------------------------------------------===//
// Shadows
//===----------------------------------------------------------------------===//

void Shadow::setWritten(uint64_t offset, uint64_t size) {
  const uint64_t end = offset + size;
  while (offset < end && offset % 4 != 0)
    states[offset / 4] |= uint8_t(1 << offset % 4), ++offset;
  if (offset + 4 <= end) {
    std::fill_n(&states[offset / 4], (end - offset) / 4, kAllWritten);
    offset += (end - offset) / 4 * 4;
  }
  for (; offset < end; ++offset)
    states[offset / 4] |= uint8_t(1 << offset % 4);
}

void Shadow::forget() { std::fill_n(&states[0], bytes / 4 + 1, uint8_t(0)); }

bool Shadow::isWritten(uint64_t offset, uint64_t size) {
  for (const uint64_t end = offset + size; offset < end;) {
    const uint64_t first = offset % 4, count = std::min(end - offset, 4 - first);
    const auto wanted = uint8_t(((1u << count) - 1) << first);
    if ((states[offset / 4] & wanted) != wanted)
      return false;
    offset += count;
  }
  return true;
}

/// The records of a word are divided into those of its bytes by the first access to a part of it.
/// A write of all of it (`joins`) makes them one again.
template <typename Body>
Verdict Shadow::forEachRecord(uint64_t offset, uint64_t size, bool joins, Body body) {
  for (const uint64_t end = offset + size; offset < end;) {
    const uint64_t word = offset / 4, first = offset % 4, count = std::min(end - offset, 4 - first);
    uint8_t &state = states[word];
    if (count == 4 && !(state & kSplit)) {
      if (Verdict verdict = body(words[word]); verdict.conflict != Conflict::None)
        return verdict;
      offset += 4;
      continue;
    }
    if (!(state & kSplit)) {
      state |= kSplit;
      std::fill_n(&singles[word * 4], 4, words[word]);
    }
    for (uint64_t byte = first; byte < first + count; ++byte)
      if (Verdict verdict = body(singles[word * 4 + byte]); verdict.conflict != Conflict::None)
        return verdict;
    if (joins && count == 4) {
      state &= uint8_t(~kSplit);
      words[word] = singles[word * 4];
    }
    offset += count;
  }
  return {};
}

Verdict Shadow::read(uint64_t offset, uint64_t size, const Access &who, bool nonCoherent) {
  auto readWord = [&](Word &word) __attribute__((always_inline)) -> Verdict {
    if (races(word.written, who))
      return {Conflict::WithWrite, word.written};
    if (nonCoherent && word.written.phase >= who.since)
      return {Conflict::NonCoherent, word.written};
    join(word.read, who);
    return {};
  };
  // Most accesses are to whole words.
  for (; size >= 4 && offset % 4 == 0 && states[offset / 4] == kAllWritten; offset += 4, size -= 4)
    if (Verdict verdict = readWord(words[offset / 4]); verdict.conflict != Conflict::None)
      return verdict;
  if (!isWritten(offset, size))
    return {Conflict::Unwritten, {}};
  return forEachRecord(offset, size, false, readWord);
}

Verdict Shadow::write(uint64_t offset, uint64_t size, const Access &who, const char *host,
                      const char *value) {
  auto writeWord = [&](Word &word) __attribute__((always_inline)) -> Verdict {
    if (races(word.read, who))
      return {Conflict::WithRead, word.read};
    if (races(word.written, who)) {
      const bool isSame = std::memcmp(host, value, size) == 0;
      if (!isSame || word.written.phase != who.phase || !isSameWarp(word.written, who))
        return {Conflict::WithWrite, word.written};
    }
    word = {.written = recordOf(who), .read = {}};
    return {};
  };
  const Verdict verdict = forEachRecord(offset, size, true, writeWord);
  setWritten(offset, size);
  return verdict;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

Region::Region(uint64_t address, uint64_t bytes)
    : address(address), bytes(bytes), host(new char[bytes + 1]), shadow(bytes) {
  std::fill_n(host.get(), bytes, char(0xa5));
}

Region &DeviceMemory::allocate(uint64_t bytes) {
  const uint64_t address = next;
  next += (bytes + 4096 + 255) / 256 * 256;
  return regions.try_emplace(address, address, bytes).first->second;
}

bool DeviceMemory::release(uint64_t address) {
  auto found = regions.find(address);
  if (found == regions.end())
    return false;
  released[address] = found->second.bytes;
  regions.erase(found);
  return true;
}

Region *DeviceMemory::find(uint64_t place, uint64_t size) {
  auto after = regions.upper_bound(place);
  if (after == regions.begin())
    return nullptr;
  Region &region = std::prev(after)->second;
  return region.contains(place, size) ? &region : nullptr;
}

std::string DeviceMemory::describe(uint64_t place) const {
  if (auto after = released.upper_bound(place); after != released.begin())
    if (auto [address, bytes] = *std::prev(after); place - address < bytes)
      return "memory that was freed";
  auto after = regions.upper_bound(place);
  if (after == regions.begin())
    return "an address outside of device memory";
  const Region &region = std::prev(after)->second;
  return "byte " + std::to_string(place - region.address) + " of an allocation of " +
         std::to_string(region.bytes) + " bytes";
}

} // namespace ptx
