//===- LaneOrder.h - waits between commands of lanes ------------*- C++ -*-===//

#ifndef ZERO_PLANNING_LANEORDER_H
#define ZERO_PLANNING_LANEORDER_H

#include <cstdint>
#include <map>
#include <vector>

namespace zero::planning {

/// Bytes from `begin` up to `end` that a command reads or writes.
struct Touch {
  int64_t begin = 0;
  int64_t end = 0;
  bool writes = false;
};

/// Orders commands on several lanes. A lane executes its commands in sequence, and lanes run in
/// parallel. Commands that access the same bytes, at least one of them writing, must keep the order
/// in which they are added. Redundant waits are omitted: each lane knows, like a vector clock
/// (Mattern 1989), which commands of every other lane are done when its next command starts.
class LaneOrder {
public:
  explicit LaneOrder(int lanes) : known(lanes, Clock(lanes, -1)) {}

  /// Adds the next command, on `lane`. Commands are numbered from 0 in the order of addition.
  /// Returns the commands that it must wait for itself, in ascending order, at most one per lane.
  std::vector<uint32_t> add(int lane, const std::vector<Touch> &touches);

private:
  /// By lane: the last of its commands that is done, or -1.
  using Clock = std::vector<int64_t>;
  /// Bytes with a common history.
  struct Piece {
    int64_t end;
    int64_t writer; ///< the last one, or -1
    Clock readers;  ///< since then, the last of each lane
  };

  void splitAt(int64_t position);
  void cover(int64_t begin, int64_t end);
  void touch(const Touch &touch, int64_t command, int lane, Clock &needed);
  std::vector<uint32_t> waitFor(const Clock &needed, int lane);

  std::map<int64_t, Piece> pieces; ///< by their begin; they never overlap
  std::vector<Clock> known;        ///< by lane, before its next command
  std::vector<Clock> done;         ///< by command, when it is done
  std::vector<int> laneOf;         ///< by command
};

} // namespace zero::planning

#endif // ZERO_PLANNING_LANEORDER_H
