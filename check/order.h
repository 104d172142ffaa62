//===- order.h - order of commands on lanes ---------------------*- C++ -*-===//

#ifndef CHECK_ORDER_H
#define CHECK_ORDER_H

#include "check/executable.h"
#include "check/memory.h"

#include <array>

namespace zero::check {

/// Which commands of a segment are ordered by lanes and waits. If those are that access the same
/// bytes, one of them writing, any order that lanes allow computes what the listed one does.
class Order {
public:
  explicit Order(const proto::Segment &segment);

  /// Begins an iteration.
  void restart() { tiers = {}; }
  /// Accesses bytes [begin, end) by `command`. Returns a command on another lane that accesses some
  /// of them and is not ordered before it, or -1.
  int access(proto::Tier tier, int64_t begin, int64_t end, bool writes, int command);

private:
  static constexpr size_t kLanes = 7;
  /// Of each lane the last command that something knows of.
  struct Clock : std::array<int, kLanes> {
    Clock() { fill(-1); }
  };
  /// The last accesses of each lane.
  struct Piece {
    int64_t end;
    Clock read, written;
    void advance(int64_t) {}
  };

  const proto::Segment &segment;
  std::vector<Clock> clocks;
  std::array<Pieces<Piece>, 3> tiers;
};

} // namespace zero::check

#endif // CHECK_ORDER_H
