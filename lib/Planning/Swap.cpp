//===- Swap.cpp - choose the values to offload ----------------------------===//

#include "zero/Planning/Swap.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace zero::planning {

double swapSeconds(const RecomputeChoice &way, int64_t host, int64_t disk, const SwapLanes &lanes) {
  double longest = lanes.compute + way.again;
  for (Link link : {Link::HostToDevice, Link::DeviceToHost, Link::DiskRead, Link::DiskWrite}) {
    const size_t index = static_cast<size_t>(link);
    const bool ofDisk = link == Link::DiskRead || link == Link::DiskWrite;
    const auto bytes = static_cast<double>(ofDisk ? disk : host + disk);
    longest = std::max(longest, lanes.busy[index] + lanes.perByte[index] * bytes);
  }
  return longest;
}

std::vector<Swap> listSwaps(const std::vector<RecomputeChoice> &ways, const SwapLanes &lanes,
                            SwapRoom room, int64_t grain) {
  std::vector<Swap> all;
  auto add = [&](size_t way, int64_t away) {
    const int64_t host = std::min(away, room.host);
    if (host == away || room.disk)
      all.push_back({way, host, away - host, swapSeconds(ways[way], host, away - host, lanes)});
  };
  for (size_t way = 0; way < ways.size(); ++way) {
    for (int64_t away = 0; away < ways[way].bytes; away += grain)
      add(way, away);
    add(way, room.disk ? ways[way].bytes : std::min(ways[way].bytes, room.host));
  }
  auto left = [&](const Swap &swap) { return ways[swap.way].bytes - swap.host - swap.disk; };
  std::stable_sort(all.begin(), all.end(), [&](const Swap &a, const Swap &b) {
    return std::make_tuple(a.seconds, a.host + a.disk, left(a)) <
           std::make_tuple(b.seconds, b.host + b.disk, left(b));
  });
  std::vector<Swap> useful;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const Swap &swap : all)
    if (left(swap) < least) {
      least = left(swap);
      useful.push_back(swap);
    }
  return useful;
}

} // namespace zero::planning
