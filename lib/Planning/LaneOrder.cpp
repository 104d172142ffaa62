//===- LaneOrder.cpp - waits between commands of lanes --------------------===//

#include "zero/Planning/LaneOrder.h"

#include <algorithm>

namespace zero::planning {

/// Cuts the piece around `position` in two.
void LaneOrder::splitAt(int64_t position) {
  auto next = pieces.lower_bound(position);
  if (next == pieces.begin())
    return;
  auto &[begin, piece] = *std::prev(next);
  if (piece.end <= position)
    return;
  pieces.emplace_hint(next, position, piece);
  piece.end = position;
}

/// Makes pieces of all bytes from `begin` to `end`, that neither cross the one nor the other.
void LaneOrder::cover(int64_t begin, int64_t end) {
  splitAt(begin);
  splitAt(end);
  for (int64_t at = begin; at < end;) {
    auto next = pieces.lower_bound(at);
    if (next == pieces.end() || next->first != at) {
      const int64_t gap = next == pieces.end() ? end : std::min(end, next->first);
      next = pieces.emplace_hint(next, at, Piece{gap, -1, Clock(known.size(), -1)});
    }
    at = next->second.end;
  }
}

/// Adds to `needed` whom `command` must come after, and notes that it was here.
void LaneOrder::touch(const Touch &touch, int64_t command, int lane, Clock &needed) {
  auto need = [&](int64_t other) {
    if (other >= 0 && other != command)
      needed[laneOf[other]] = std::max(needed[laneOf[other]], other);
  };
  cover(touch.begin, touch.end);
  auto first = pieces.find(touch.begin);
  auto last = first;
  for (; last != pieces.end() && last->first < touch.end; ++last) {
    need(last->second.writer);
    if (touch.writes)
      std::for_each(last->second.readers.begin(), last->second.readers.end(), need);
    else
      last->second.readers[lane] = command;
  }
  if (!touch.writes)
    return;
  // A command after the writer is also after all commands before the writer, so one entry suffices.
  first->second = {touch.end, command, Clock(known.size(), -1)};
  pieces.erase(std::next(first), last);
}

/// The commands of `needed` that the lane does not know to be complete. It knows them from now on.
std::vector<uint32_t> LaneOrder::waitFor(const Clock &needed, int lane) {
  std::vector<int64_t> latest;
  for (int other = 0; other < static_cast<int>(needed.size()); ++other)
    if (other != lane && needed[other] > known[lane][other])
      latest.push_back(needed[other]);
  // The latest first: it may have waited for the others.
  std::sort(latest.rbegin(), latest.rend());
  std::vector<uint32_t> waits;
  for (int64_t command : latest) {
    if (command <= known[lane][laneOf[command]])
      continue;
    waits.push_back(static_cast<uint32_t>(command));
    for (size_t other = 0; other < needed.size(); ++other)
      known[lane][other] = std::max(known[lane][other], done[command][other]);
  }
  std::reverse(waits.begin(), waits.end());
  return waits;
}

std::vector<uint32_t> LaneOrder::add(int lane, const std::vector<Touch> &touches) {
  const auto command = static_cast<int64_t>(laneOf.size());
  laneOf.push_back(lane);
  Clock needed(known.size(), -1);
  for (const Touch &each : touches)
    if (each.begin < each.end)
      touch(each, command, lane, needed);
  std::vector<uint32_t> waits = waitFor(needed, lane);
  known[lane][lane] = command;
  done.push_back(known[lane]);
  return waits;
}

} // namespace zero::planning
