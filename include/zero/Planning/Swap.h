//===- Swap.h - what leaves the device until backward -----------*- C++ -*-===//

#ifndef ZERO_PLANNING_SWAP_H
#define ZERO_PLANNING_SWAP_H

#include "zero/Planning/Machine.h"

#include <array>

namespace zero::planning {

/// A way to compute again, and what it leaves to be saved. Ways drop values in the order of the
/// seconds that it takes to make them again for each byte, the cheapest first (Fuyou,
/// arXiv 2403.06504, section 4.3; here planLadder).
struct SavedWay {
  double again = 0;  ///< seconds of what runs again in a step
  int64_t bytes = 0; ///< that stay from forward to backward
};

/// What runs side by side in a step: seconds without any swap, and those that each byte adds which
/// goes from the device to the host, or on to the disk, and back.
struct SwapLanes {
  using Links = std::array<double, kNumLinks>;
  double compute = 0;
  Links busy = {};
  Links perByte = {};
};

/// Of what a way saves, bytes that wait elsewhere.
struct Swap {
  size_t way = 0;
  int64_t host = 0;
  int64_t disk = 0;
  double seconds = 0; ///< of the lane that takes longest
};

/// Where the bytes that are swapped may wait.
struct SwapRoom {
  int64_t host = 0;
  bool disk = false; ///< as much as does not fit the host: it is never faster
};

/// Seconds of the lane that takes longest.
double swapSeconds(const SavedWay &way, int64_t host, int64_t disk, const SwapLanes &lanes);

/// Of all ways and multiples of `grain` bytes (all of a way's, too) those that are of use: whatever
/// room the device has for saved values, the fastest that fits it is among them, of equals the one
/// that moves least. Sorted by seconds, each leaves less on the device than the ones before: what
/// is swapped costs links, what is computed again the cores, and time stops falling where the two
/// meet.
std::vector<Swap> listSwaps(const std::vector<SavedWay> &ways, const SwapLanes &lanes,
                            SwapRoom room, int64_t grain);

} // namespace zero::planning

#endif // ZERO_PLANNING_SWAP_H
