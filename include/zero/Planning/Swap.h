//===- Swap.h - choose the values to offload until backward -----*- C++ -*-===//

#ifndef ZERO_PLANNING_SWAP_H
#define ZERO_PLANNING_SWAP_H

#include "zero/Planning/Machine.h"

#include <array>

namespace zero::planning {

/// A choice of recomputation, and the bytes that remain to be saved. Values are dropped in the
/// order of seconds of recomputation per byte, the cheapest first (Fuyou, arXiv 2403.06504, section
/// 4.3; here planLadder).
struct RecomputeChoice {
  double again = 0;  ///< seconds of recomputation in a step
  int64_t bytes = 0; ///< that are saved from forward to backward
};

/// The lanes of a step that run in parallel: seconds without offloading, and seconds for each byte
/// that is copied from the device to the host, or on to the disk, and back.
struct SwapLanes {
  using Links = std::array<double, kNumLinks>;
  double compute = 0;
  Links busy = {};
  Links perByte = {};
};

/// Bytes of the saved values that are offloaded.
struct Swap {
  size_t choice = 0; ///< index of the choice of recomputation
  int64_t host = 0;
  int64_t disk = 0;
  double seconds = 0; ///< of the slowest lane
};

/// The tiers that bytes may be offloaded to.
struct SwapRoom {
  int64_t host = 0;
  int64_t disk = 0; ///< for bytes that do not fit the host, since it is never faster
};

/// Seconds of the slowest lane.
double swapSeconds(const RecomputeChoice &choice, int64_t host, int64_t disk,
                   const SwapLanes &lanes);

/// Returns the Pareto frontier of step time and device bytes over all choices of recomputation and
/// multiples of `grain` offloaded bytes (and all bytes of a choice): for any space on the device
/// for saved values, the fastest choice that fits it is included, and of equally fast ones the one
/// that transfers least. Sorted by seconds, each leaves fewer bytes on the device than the ones
/// before. Offloading costs time of links, recomputation time of cores, and the step time is
/// minimal where the two are equal.
std::vector<Swap> listSwaps(const std::vector<RecomputeChoice> &choices, const SwapLanes &lanes,
                            SwapRoom room, int64_t grain);

} // namespace zero::planning

#endif // ZERO_PLANNING_SWAP_H
