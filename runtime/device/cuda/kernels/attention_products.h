//===- attention_products.h - products of tiles on a GPU --------*- C++ -*-===//
//
// For code that is compiled to PTX. A warp has 16 rows of its block's tile. Products accumulate in
// float32 in the layout of mma.sync.m16n8k16: a thread has, in each 8 columns, two neighbouring
// ones of rows t/4 and t/4 + 8. Factors of 16 bits are multiplied by tensor cores, float32 by fused
// multiply-adds.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_PRODUCTS_H
#define RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_PRODUCTS_H

#include "runtime/device/cuda/kernels/attention_factors.h"

namespace zero::rt::cuda {
namespace {

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)

/// Sums of 16 rows by `Columns` columns.
template <int Columns>
struct Sums {
  float at[Columns / 8][4];

  void clear() { UNROLLED for (auto &each : at) UNROLLED for (float &value : each) value = 0; }
};

/// Products of tiles in shared memory.
template <typename Factor, int Width>
struct Products {
  using Tiles = AttentionTiles<Factor::kIsFloat, Width>;
  using Place = SHARED typename Factor::Element *;
  static constexpr bool kIsFloat = Factor::kIsFloat;
  static constexpr int kVisited = Tiles::kVisited, kStride = Tiles::kStride;

  /// This warp's rows of one of the block's own tiles, as first factor. Kept: in registers.
  template <bool Kept>
  struct Own {
    static constexpr bool kKept = Kept && !kIsFloat;
    Place tile;
    Word words[kKept ? Width / 16 : 1][4];

    /// The tile is there.
    explicit Own(Place tile) : tile(tile) {
      if constexpr (kKept)
        UNROLLED for (int k = 0; k < Width / 16; ++k) load(k, words[k]);
    }
    void load(int k, Word (&to)[4]) const {
      const int lane = laneNumber();
      takeMatrices(tile + (warpNumber() * 16 + lane % 16) * kStride + k * 16 + lane / 16 * 8, to);
    }
    void take(int k, Word (&to)[4]) const {
      if constexpr (kKept)
        UNROLLED for (int i = 0; i < 4; ++i) to[i] = words[k][i];
      else
        load(k, to);
    }
  };

  /// sums[row][n] = product of the warp's rows of `left` and rows n of `right`.
  template <bool Kept>
  static void multiplyRows(const Own<Kept> &left, Place right, Sums<kVisited> &sums) {
    sums.clear();
    const int lane = laneNumber(), row = warpNumber() * 16 + lane / 4;
    if constexpr (kIsFloat) {
      for (int k = 0; k < Width; ++k)
        UNROLLED for (int n = 0; n < kVisited / 8; ++n) UNROLLED for (int i = 0; i < 4; ++i)
            sums.at[n][i] =
            __builtin_fmaf(left.tile[(row + i / 2 * 8) * kStride + k],
                           right[(n * 8 + lane % 4 * 2 + i % 2) * kStride + k], sums.at[n][i]);
    } else {
      Place from = right + (lane % 8 + lane / 16 * 8) * kStride + lane / 8 % 2 * 8;
      UNROLLED for (int k = 0; k < Width / 16; ++k) {
        Word a[4];
        left.take(k, a);
        UNROLLED for (int n = 0; n < kVisited / 16; ++n) {
          Word b[4];
          takeMatrices(from + n * 16 * kStride + k * 16, b);
          Factor::multiply(sums.at[2 * n], a, b[0], b[1]);
          Factor::multiply(sums.at[2 * n + 1], a, b[2], b[3]);
        }
      }
    }
  }

  /// sums += `left`, 16 rows of the warp by kVisited, times the rows of `right`. `weights`: shared
  /// memory of this warp, with factors of float32.
  static void multiplyColumns(const Sums<kVisited> &left, Place right, SHARED float *weights,
                              Sums<Width> &sums) {
    const int lane = laneNumber();
    if constexpr (kIsFloat) {
      UNROLLED for (int n = 0; n < kVisited / 8; ++n) UNROLLED for (int i = 0; i < 4; ++i)
          weights[(lane / 4 + i / 2 * 8) * Tiles::kWeightStride + n * 8 + lane % 4 * 2 + i % 2] =
              left.at[n][i];
      __nvvm_bar_warp_sync(-1);
      for (int k = 0; k < kVisited; ++k)
        UNROLLED for (int n = 0; n < Width / 8; ++n) UNROLLED for (int i = 0; i < 4; ++i)
            sums.at[n][i] =
            __builtin_fmaf(weights[(lane / 4 + i / 2 * 8) * Tiles::kWeightStride + k],
                           right[k * kStride + n * 8 + lane % 4 * 2 + i % 2], sums.at[n][i]);
      __nvvm_bar_warp_sync(-1);
    } else {
      Place from = right + lane % 16 * kStride + lane / 16 * 8;
      UNROLLED for (int k = 0; k < kVisited / 16; ++k) {
        const float (&low)[4] = left.at[2 * k], (&high)[4] = left.at[2 * k + 1];
        const Word a[4] = {Factor::pair(low[0], low[1]), Factor::pair(low[2], low[3]),
                           Factor::pair(high[0], high[1]), Factor::pair(high[2], high[3])};
        UNROLLED for (int n = 0; n < Width / 16; ++n) {
          Word b[4];
          takeMatrices<true>(from + k * 16 * kStride + n * 16, b);
          Factor::multiply(sums.at[2 * n], a, b[0], b[1]);
          Factor::multiply(sums.at[2 * n + 1], a, b[2], b[3]);
        }
      }
    }
  }
};

#pragma clang attribute pop

} // namespace
} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_PRODUCTS_H
