//===- Swap.cpp - choose the values to offload ----------------------------===//

#include "zero/Planning/Swap.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace zero::planning {

double swapSeconds(const RecomputeChoice &choice, int64_t host, int64_t disk,
                   const SwapLanes &lanes) {
  double longest = lanes.compute + choice.again;
  for (Link link : {Link::HostToDevice, Link::DeviceToHost, Link::DiskRead, Link::DiskWrite}) {
    const size_t index = static_cast<size_t>(link);
    const bool ofDisk = link == Link::DiskRead || link == Link::DiskWrite;
    const auto bytes = static_cast<double>(ofDisk ? disk : host + disk);
    longest = std::max(longest, lanes.busy[index] + lanes.perByte[index] * bytes);
  }
  return longest;
}

std::vector<Swap> listSwaps(const std::vector<RecomputeChoice> &choices, const SwapLanes &lanes,
                            SwapRoom room, int64_t grain) {
  std::vector<Swap> all;
  auto add = [&](size_t choice, int64_t away) {
    const int64_t host = std::min(away, room.host);
    if (away - host <= room.disk)
      all.push_back(
          {choice, host, away - host, swapSeconds(choices[choice], host, away - host, lanes)});
  };
  for (size_t choice = 0; choice < choices.size(); ++choice) {
    for (int64_t away = 0; away < choices[choice].bytes; away += grain)
      add(choice, away);
    const int64_t disk = std::max<int64_t>(choices[choice].bytes - room.host, 0);
    add(choice, choices[choice].bytes - disk + std::min(disk, room.disk));
  }
  auto left = [&](const Swap &swap) { return choices[swap.choice].bytes - swap.host - swap.disk; };
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
