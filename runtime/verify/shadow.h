//===- shadow.h - contents of an arena's bytes ------------------*- C++ -*-===//

#ifndef RUNTIME_VERIFY_SHADOW_H
#define RUNTIME_VERIFY_SHADOW_H

#include "runtime/format/accesses.h"

#include <array>
#include <map>
#include <vector>

namespace zero::rt {

/// The content of a byte, and the command that wrote it.
struct Content {
  enum : int64_t { Nobody = -1, State = -2, Input = -3, Mixed = -4 };

  uint32_t value = 0;      ///< of the program
  uint64_t origin = 0;     ///< where that value begins, as in Access
  int64_t writer = Nobody; ///< a command, or one of the above
  bool live = false;       ///< written, and still needed
  uint64_t time = 0;       ///< of the write, if times are tracked
  /// The command that computed it, of which copies are made; Mixed: one of several.
  int64_t version = Nobody;

  /// Whether a reader reads the same value, regardless of the writer.
  bool isSame(const Content &other) const {
    return value == other.value && origin == other.origin && live == other.live;
  }
};

/// The contents of bytes that are numbered by position.
class Shadow {
public:
  explicit Shadow(uint64_t bytes) : bytes(bytes) { clear(); }

  void clear();
  void write(ByteRange range, const Content &content);
  /// The bytes are no longer needed.
  void kill(ByteRange range) { write(range, Content()); }
  /// Live values in `range` that equal `from` (0: all values, live or dead) become `to`. If `time`
  /// is not 0, it becomes their time.
  void rename(ByteRange range, uint32_t from, uint32_t to, uint64_t origin, uint64_t time = 0);

  /// The live bytes of one tier.
  uint64_t liveBytes(proto::Tier tier = proto::DEVICE) const { return live[size_t(tier)]; }
  /// Whether nothing lives.
  bool isDead() const { return live == std::array<uint64_t, proto::Tier_ARRAYSIZE>{}; }
  /// Whether readers find the same in all bytes. Adds to `times` when it was written here
  /// and there.
  bool isSame(const Shadow &other, std::vector<std::pair<uint64_t, uint64_t>> &times) const;
  /// Calls body(ByteRange, const Content &) for each part of `range`.
  template <typename Body>
  void forEach(ByteRange range, Body body) const {
    if (range.begin >= range.end)
      return;
    for (auto it = std::prev(parts.upper_bound(range.begin));
         it != parts.end() && it->first < range.end; ++it)
      body(ByteRange{std::max(range.begin, it->first), std::min(range.end, endOf(it))}, it->second);
  }

private:
  using Parts = std::map<uint64_t, Content>; ///< by the first byte; each ends where the next begins

  uint64_t endOf(Parts::const_iterator it) const {
    auto next = std::next(it);
    return next == parts.end() ? bytes : next->first;
  }
  /// Adds or removes the live part of `it`. Live parts are in one tier.
  uint64_t &liveOf(Parts::const_iterator it) { return live[size_t(tierOf(it->first))]; }
  /// Makes a part begin at `at`.
  Parts::iterator cut(uint64_t at);
  uint64_t bytes;
  std::array<uint64_t, proto::Tier_ARRAYSIZE> live{}; ///< by tier
  Parts parts;
};

} // namespace zero::rt

#endif // RUNTIME_VERIFY_SHADOW_H
