//===- lane_order.cpp - what lanes owe to each other ----------------------===//

#include "runtime/core/lane_order.h"

#include <algorithm>
#include <array>
#include <map>

namespace zero::rt {

static constexpr size_t kLanes = proto::Lane_ARRAYSIZE;

namespace {

/// By lane, 1 + the index of a command; 0: none.
using Moments = std::array<uint32_t, kLanes>;

/// Bytes that a command touches.
struct Touch {
  uint64_t begin, end;
  bool writes;
};

/// Who touched the bytes of an arena last.
class LastTouches {
public:
  /// Adds those whom a command on `lane` that touches the bytes must wait for.
  void conflicts(const Touch &touch, uint32_t lane, Moments &found) {
    forEach(touch, [&](Cell &cell) {
      for (size_t other = 0; other < kLanes; ++other)
        if (other != lane)
          found[other] =
              std::max({found[other], cell.writes[other], touch.writes ? cell.reads[other] : 0});
    });
  }

  /// The command has waited for all of these: a write hides what was before it.
  void add(const Touch &touch, uint32_t lane, uint32_t moment) {
    forEach(touch, [&](Cell &cell) {
      if (touch.writes)
        cell = {};
      (touch.writes ? cell.writes : cell.reads)[lane] = moment;
    });
    if (touch.writes && touch.begin < touch.end)
      cells.erase(std::next(cells.find(touch.begin)), cells.lower_bound(touch.end));
  }

private:
  struct Cell {
    Moments reads{}, writes{};
  };

  void cut(uint64_t at) {
    auto it = cells.upper_bound(at);
    if (it == cells.begin())
      cells.emplace(at, Cell());
    else if (--it; it->first != at)
      cells.emplace(at, it->second);
  }

  template <typename Body>
  void forEach(const Touch &touch, Body body) {
    if (touch.begin >= touch.end)
      return;
    cut(touch.begin);
    cut(touch.end);
    for (auto it = cells.find(touch.begin); it->first < touch.end; ++it)
      body(it->second);
  }

  std::map<uint64_t, Cell> cells; ///< by first byte; each ends where the next begins
};

/// Orders one segment of one rank.
class SegmentOrder {
public:
  SegmentOrder(const proto::Program &program, int rank) : program(program), rank(rank) {}

  void run(const proto::Segment &source, CommandSegment &segment, uint32_t &signals) {
    for (uint32_t i = 0; i < segment.commands.size(); ++i)
      visit(source.commands(int(i)), i, segment.commands[i]);
    // Signals are numbered in the order of the commands that give them.
    std::vector<uint32_t> numbers(segment.commands.size());
    for (uint32_t i = 0; i < segment.commands.size(); ++i)
      if (signalled[i])
        segment.commands[i].order.signal = int32_t(numbers[i] = signals++);
    for (Command &command : segment.commands)
      for (uint32_t &wait : command.order.waits)
        wait = numbers[wait];
  }

private:
  void visit(const proto::Command &source, uint32_t index, Command &command) {
    const auto lane = uint32_t(source.lane());
    const std::vector<Touch> touched = touchesOf(source);
    Moments wanted{};
    for (const Touch &touch : touched)
      touches.conflicts(touch, lane, wanted);
    for (uint32_t wait : source.waits()) {
      uint32_t &moment = wanted[size_t(lanes[wait])];
      moment = std::max(moment, wait + 1);
    }
    wanted[lane] = 0; // its own lane is in order
    command.order.lane = lane;
    for (size_t other = 0; other < kLanes; ++other)
      if (wanted[other] > known[lane][other]) {
        const uint32_t waited = wanted[other] - 1;
        command.order.waits.push_back(waited);
        signalled[waited] = true;
        for (size_t each = 0; each < kLanes; ++each) // with all that it has waited for
          known[lane][each] = std::max(known[lane][each], seen[waited][each]);
      }
    known[lane][lane] = index + 1;
    lanes.push_back(lane);
    seen.push_back(known[lane]);
    signalled.push_back(false);
    for (const Touch &touch : touched)
      touches.add(touch, lane, index + 1);
    for (int i = 0; i < program.predicates_size(); ++i)
      for (const Touch &touch : touched)
        if (touch.writes && touch.begin <= placeOf(program.predicates(i), rank) &&
            placeOf(program.predicates(i), rank) < touch.end)
          command.settles.push_back(uint32_t(i));
  }

  std::vector<Touch> touchesOf(const proto::Command &) const {
    return {{0, deviceBytes(program), true}};
  }

  const proto::Program &program;
  int rank;
  LastTouches touches;
  std::array<Moments, kLanes> known{}; ///< by lane: what its commands come after
  std::vector<Moments> seen;           ///< the same, of each command
  std::vector<uint32_t> lanes;         ///< of each command
  std::vector<bool> signalled;         ///< whether somebody waits for it
};

} // namespace

uint32_t orderLanes(const proto::Program &program, int rank,
                    std::vector<CommandSegment> &segments) {
  uint32_t signals = 0;
  for (size_t i = 0; i < segments.size(); ++i)
    SegmentOrder(program, rank).run(program.segments(int(i)), segments[i], signals);
  return signals;
}

Status checkLanes(const proto::Program &program) {
  for (const proto::Segment &segment : program.segments())
    for (int i = 0; i < segment.commands_size(); ++i) {
      const proto::Command &command = segment.commands(i);
      const bool waits = std::all_of(command.waits().begin(), command.waits().end(),
                                     [&](uint32_t wait) { return wait < uint32_t(i); });
      if (!proto::Lane_IsValid(command.lane()) || !waits)
        return fail(ZERO_RT_BAD_FILE,
                    "command '%s': no lane that this runtime knows, or it waits for a later one",
                    escape(command.label()).c_str());
    }
  return {};
}

} // namespace zero::rt
