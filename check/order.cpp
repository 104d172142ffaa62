//===- order.cpp - order of commands on lanes -----------------------------===//

#include "check/order.h"

namespace zero::check {

Order::Order(const proto::Segment &segment) : segment(segment) {
  Clock last;
  for (int i = 0; i < segment.commands_size(); ++i) {
    const proto::Command &command = segment.commands(i);
    const size_t lane = size_t(command.lane());
    require(lane < kLanes, "a command on no lane that the checker knows");
    Clock clock;
    auto follow = [&](int earlier) {
      for (size_t other = 0; other < kLanes; ++other)
        clock[other] = std::max(clock[other], clocks[size_t(earlier)][other]);
      int &known = clock[size_t(segment.commands(earlier).lane())];
      known = std::max(known, earlier);
    };
    if (last[lane] >= 0)
      follow(last[lane]);
    for (uint32_t wait : command.waits()) {
      require(wait < uint32_t(i), "a command waits for one that is not before it");
      follow(int(wait));
    }
    clocks.push_back(clock);
    last[lane] = i;
  }
}

int Order::access(proto::Tier tier, int64_t begin, int64_t end, bool writes, int command) {
  const size_t lane = size_t(segment.commands(command).lane());
  const Clock &clock = clocks[size_t(command)];
  Pieces<Piece> &pieces = tiers[size_t(tier)];
  pieces.cut(begin, end);
  auto it = pieces.map.lower_bound(begin);
  for (; begin < end; begin = it->second.end, ++it) {
    if (it == pieces.map.end() || it->first > begin) {
      const int64_t next = it == pieces.map.end() ? end : std::min(end, it->first);
      it = pieces.map.emplace(begin, Piece{next, {}, {}}).first;
    }
    Piece &piece = it->second;
    for (size_t other = 0; other < kLanes; ++other) {
      if (other != lane && piece.written[other] > clock[other])
        return piece.written[other];
      if (other != lane && writes && piece.read[other] > clock[other])
        return piece.read[other];
    }
    (writes ? piece.written : piece.read)[lane] = command;
  }
  return -1;
}

} // namespace zero::check
