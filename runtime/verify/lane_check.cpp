//===- lane_check.cpp - verify the order of lanes -------------------------===//

#include "runtime/verify/lane_check.h"

#include "runtime/format/accesses.h"
#include "runtime/format/tables.h"

#include <array>
#include <map>

namespace zero::rt {

namespace {
constexpr int kLanes = proto::Lane_ARRAYSIZE;

/// By lane: the last of its commands that is complete; -1: none.
struct Clock {
  std::array<int64_t, kLanes> done;
  Clock() { done.fill(-1); }
};

/// Checks one segment. All lanes synchronize between segments and between their iterations.
class SegmentCheck {
public:
  SegmentCheck(const proto::Program &program, const proto::Segment &segment)
      : program(program), segment(segment) {}
  Status run();

private:
  /// Bytes with one history.
  struct Piece {
    uint64_t end = 0;
    int64_t writer = -1;
    Clock readers; ///< since then
  };

  Status follow(uint32_t index, Clock &clock) const;
  Status touch(const Access &access, uint32_t index, const Clock &clock);
  bool isDone(int64_t earlier, uint32_t index, const Clock &clock) const {
    return earlier < 0 || earlier == int64_t(index) ||
           clock.done[size_t(segment.commands(int(earlier)).lane())] >= earlier;
  }
  Status race(int64_t earlier, uint32_t index, const std::string &what) const;
  std::map<uint64_t, Piece>::iterator cut(uint64_t at);

  const proto::Program &program;
  const proto::Segment &segment;
  std::map<uint64_t, Piece> pieces; ///< by their first byte
  std::array<Clock, kLanes> lanes;  ///< behind the last command of each
  std::vector<Clock> behind;        ///< by command
};
} // namespace

/// The first piece that begins at `at` or later, after a cut there.
std::map<uint64_t, SegmentCheck::Piece>::iterator SegmentCheck::cut(uint64_t at) {
  auto next = pieces.lower_bound(at);
  if (next == pieces.begin() || (next != pieces.end() && next->first == at))
    return next;
  auto before = std::prev(next);
  if (before->second.end <= at)
    return next;
  next = pieces.emplace_hint(next, at, before->second);
  before->second.end = at;
  return next;
}

/// Adds to `clock` the effect of the waits of command `index`.
Status SegmentCheck::follow(uint32_t index, Clock &clock) const {
  for (uint32_t wait : segment.commands(int(index)).waits()) {
    if (wait >= index)
      return fail(
          ZERO_RT_BAD_FILE,
          "command %u ('%s') waits for command %u, which comes later: the lanes may deadlock",
          index, escape(segment.commands(int(index)).label()).c_str(), wait);
    for (int lane = 0; lane < kLanes; ++lane)
      clock.done[size_t(lane)] =
          std::max(clock.done[size_t(lane)], behind[wait].done[size_t(lane)]);
  }
  return {};
}

Status SegmentCheck::race(int64_t earlier, uint32_t index, const std::string &what) const {
  const proto::Command &first = segment.commands(int(earlier)),
                       &second = segment.commands(int(index));
  return fail(
      ZERO_RT_BAD_FILE,
      "commands %lld ('%s', lane %s) and %u ('%s', lane %s) %s, and nothing says which comes "
      "first",
      static_cast<long long>(earlier), escape(first.label()).c_str(), nameOf(first.lane()), index,
      escape(second.label()).c_str(), nameOf(second.lane()), what.c_str());
}

/// Checks the order of `access` with the previous accesses of its bytes, and adds it.
Status SegmentCheck::touch(const Access &access, uint32_t index, const Clock &clock) {
  const ByteRange range = access.range;
  const auto lane = size_t(segment.commands(int(index)).lane());
  if (range.begin >= range.end)
    return {};
  auto first = cut(range.begin);
  cut(range.end);
  auto at = first;
  for (uint64_t begin = range.begin; begin < range.end; begin = at->second.end, ++at) {
    if (at == pieces.end() || at->first != begin) {
      Piece fresh;
      fresh.end = at == pieces.end() ? range.end : std::min(range.end, at->first);
      at = pieces.emplace_hint(at, begin, fresh);
    }
    Piece &piece = at->second;
    auto expectDone = [&](int64_t earlier) {
      return isDone(earlier, index, clock)
                 ? Status()
                 : race(earlier, index, "touch " + describe({begin, piece.end}));
    };
    ZERO_RT_TRY(expectDone(piece.writer));
    if (access.writes)
      for (int64_t reader : piece.readers.done)
        ZERO_RT_TRY(expectDone(reader));
    else
      piece.readers.done[lane] = index;
  }
  if (access.writes) { // from now on they have one history
    first = pieces.find(range.begin);
    first->second = {range.end, int64_t(index), {}};
    pieces.erase(std::next(first), at);
  }
  return {};
}

Status SegmentCheck::run() {
  int64_t collective = -1; // the last one
  for (uint32_t index = 0; index < uint32_t(segment.commands_size()); ++index) {
    const proto::Command &command = segment.commands(int(index));
    if (!proto::Lane_IsValid(command.lane()))
      return fail(ZERO_RT_BAD_FILE, "command %u: no lane %d", index, int(command.lane()));
    Clock &clock = lanes[size_t(command.lane())];
    ZERO_RT_TRY(follow(index, clock));
    if (command.has_collective()) {
      if (!isDone(collective, index, clock))
        return race(collective, index, "are collectives, which all ranks must begin in one order");
      collective = index;
    }
    for (const Access &access : accessesOfAllRanks(program, command))
      ZERO_RT_TRY(touch(access, index, clock));
    clock.done[size_t(command.lane())] = index;
    behind.push_back(clock);
  }
  return {};
}

Status checkLanes(const proto::Program &program) {
  for (const proto::Segment &segment : program.segments())
    ZERO_RT_TRY(SegmentCheck(program, segment).run());
  return {};
}

} // namespace zero::rt
