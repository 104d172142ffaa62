//===- attention_parameters.h - arguments of attention kernels --*- C++ -*-===//
//
// What the host passes to attention.cpp, which is compiled for GPUs. Both sides lay it out alike:
// it has only numbers and addresses, by decreasing size.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_PARAMETERS_H
#define RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_PARAMETERS_H

namespace zero::rt::cuda {

/// How numbers are stored. Shown: bytes, of which 1 shows a key.
enum class StoredAs : int { Float32, Float16, BFloat16, Shown };

/// Rows of the heads of a tensor; strides in elements.
struct GpuRows {
  char *data;
  long batch, head, row;
  StoredAs stored;
  int unused;
};

/// A mask over scores; `data` is null if there is none. Strides in elements.
struct GpuMask {
  const char *data;
  long batch, head, query, key;
  StoredAs stored;
  int unused;
};

/// Segments of positions; `data` is null if there are none. The stride of batch in elements.
struct GpuSegments {
  const long *data;
  long batch;
};

struct AttentionParameters {
  GpuRows q, k, v, o;
  GpuRows dO, dQ, dK, dV; ///< of backward
  GpuMask padding, mask;
  GpuSegments querySegments, keySegments;
  float *lse;               ///< [batch, heads, queries]
  float *delta, *share;     ///< of backward, the same shape: row sums of dO O, factors of weights
  int batch, heads, served; ///< heads of queries for each head of keys
  int queries, keys, width, valueWidth;
  int causal, causalOffset, guard;
  int window;        ///< 0: none
  int prefix;        ///< keys that `causal` shows to all
  int skips;         ///< whether keys that positions hide have no weight at all
  int vectors;       ///< whether rows can be read 16 bytes at a time
  int storesVectors; ///< whether results can be written so, in the type of factors
  float scale, fill;
};

/// The kernels: for each direction one of a type of factors and a padded width. Those of
/// float32 take any stored type.
inline constexpr int kAttentionWidths[] = {32, 64, 128};

/// The rows of a block's own tile, and of the tiles that it visits.
template <bool IsFloat, int Width>
struct AttentionTiles {
  static constexpr int kWarps = IsFloat && Width > 64 ? 2 : 4;
  static constexpr int kOwn = 16 * kWarps;
  static constexpr int kVisited = 32;
  static constexpr int kElement = IsFloat ? 4 : 2;
  /// Elements between rows in shared memory: rows begin in different banks.
  static constexpr int kStride = Width + (IsFloat ? 4 : 8);
  /// Weights of a warp, which only products of float32 read from there.
  static constexpr int kWeightStride = kVisited + 4;
  static constexpr int kWeightBytes = IsFloat ? kWarps * 16 * kWeightStride * 4 : 0;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kOwnBytes = kOwn * kStride * kElement; ///< of one tensor
  /// A tile that is visited: rows of two tensors, and three numbers of each row.
  static constexpr int kStageBytes = kVisited * (2 * kStride * kElement + 3 * 4);
  /// While a tile is used, the next one is copied. Those of float32 would need too much memory.
  static constexpr int kStages = IsFloat ? 1 : 2;
  /// What masks add to the scores of a block.
  static constexpr int kMaskStride = kVisited + 1;
  static constexpr int kMaskBytes = kOwn * kMaskStride * 4;
  /// Shared memory of a block with own rows of some tensors.
  static constexpr int bytes(int tensors, bool hasMasks) {
    return tensors * kOwnBytes + kStages * kStageBytes + kWeightBytes + (hasMasks ? kMaskBytes : 0);
  }
};

} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_PARAMETERS_H
