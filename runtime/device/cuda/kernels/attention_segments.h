//===- attention_segments.h - tiles of other documents ---------*- C++ -*-===//

#ifndef RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_SEGMENTS_H
#define RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_SEGMENTS_H

#include "runtime/device/cuda/kernels/attention_numbers.h"

namespace zero::rt::cuda {
namespace {

// A function that is called would need its arguments in memory.
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)

/// Narrows [begin, end) of `visited` by tiles of `Tile` rows at both ends in which no row has a
/// segment between the lowest and the highest of `own` in [first, last), which is not empty. Each
/// warp of a block finds the same.
template <int Tile>
void cutBySegments(const long *own, int first, int last, const long *visited, int &begin,
                   int &end) {
  static_assert(Tile == 32); // a row for each lane
  long low = own[first], high = low;
  for (int row = first + laneNumber(); row < last; row += 32) {
    low = own[row] < low ? own[row] : low;
    high = own[row] > high ? own[row] : high;
  }
  UNROLLED for (int bit = 16; bit > 0; bit /= 2) {
    const long otherLow = fromLane(low, bit), otherHigh = fromLane(high, bit);
    low = otherLow < low ? otherLow : low;
    high = otherHigh > high ? otherHigh : high;
  }
  auto isSeen = [&](int tile) {
    const int row = tile + laneNumber();
    return __nvvm_vote_any_sync(-1, row < end && low <= visited[row] && visited[row] <= high);
  };
  while (begin < end && !isSeen(begin))
    begin += Tile;
  while (begin < end) {
    const int tile = begin + (end - 1 - begin) / Tile * Tile;
    if (isSeen(tile))
      break;
    end = tile;
  }
}

#pragma clang attribute pop

} // namespace
} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_SEGMENTS_H
