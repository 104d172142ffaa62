//===- attention_tiles.h - one head of an attention, by tiles ---*- C++ -*-===//
//
// What attention.cpp and the vector code share. The vector code is one source that is
// compiled for three kinds of x86-64, or once for the target elsewhere; what it includes has no
// inline functions that a linker could share with others: they could hold instructions that this
// CPU does not have.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_ATTENTION_TILES_H
#define RUNTIME_DEVICE_CPU_ATTENTION_TILES_H

#include "zero_rt/zero_rt.h"

#include <cstdint>

namespace zero::rt {

/// Queries and keys of a tile. The scores of a tile fit into the second-level cache, and packed
/// keys and values into the first. Multiples of the vector width of any CPU.
inline constexpr int64_t kTileQueries = 64;
inline constexpr int64_t kTileKeys = 256;
/// The distance between rows of scores, so that columns of rows are in different cache sets.
inline constexpr int64_t kScoreStride = kTileKeys + 16;
/// Packed widths are a multiple of the longest vector, packed keys of two.
inline constexpr int64_t kWidthUnit = 16;
inline constexpr int64_t kKeyUnit = 32;

/// The part that is the same for all heads. See Attention in executable.proto.
struct AttentionShape {
  int64_t queries, keys, width, valueWidth;
  float scale, fill;
  bool causal, guard;
  int64_t causalOffset; ///< -queries to keys
  int64_t window;       ///< 0: none
  int64_t prefix;       ///< at most keys

  /// The keys that positions show to `query` are [begin, end); none if end <= begin.
  [[gnu::always_inline]] int64_t beginOf(int64_t query) const {
    const int64_t begin = window ? query + causalOffset + 1 - window : 0;
    return begin < 0 ? 0 : begin < keys ? begin : keys;
  }
  [[gnu::always_inline]] int64_t endOf(int64_t query) const {
    if (!causal)
      return keys;
    const int64_t end = query + causalOffset + 1;
    return end < prefix ? prefix : end < keys ? end : keys;
  }
};

/// The layout of one thread's workspace, in floats. Factors of products are words, each a float or
/// two bf16 (attention_vector.h): pairs along a row, or of neighbouring rows where rows are summed.
/// Parts that only backward uses come last.
struct AttentionLayout {
  int64_t paddedKeys, paddedWidth, paddedValue;
  int64_t longestKey;    ///< one number
  int64_t segments;      ///< a SegmentRange of each kKeyUnit keys
  int64_t keyColumns;    ///< keys, transposed
  int64_t values;        ///< rows, paired
  int64_t queries;       ///< those of a tile; floats are scaled
  int64_t result;        ///< of a tile: O, or dQ
  int64_t scores;        ///< of a tile
  int64_t rows;          ///< kKeyUnit of them on their way into columns
  int64_t keyRows;       ///< keys, paired
  int64_t keySums;       ///< dK
  int64_t valueSums;     ///< dV
  int64_t valueColumns;  ///< values, transposed
  int64_t gradient;      ///< dO of a tile
  int64_t gradScores;    ///< dS of a tile
  int64_t queryPairs;    ///< queries of a tile, paired; floats: `queries`
  int64_t gradientPairs; ///< dO of a tile, paired; floats: `gradient`
  int64_t floats;        ///< of all
};

/// The rows of one head of a tensor.
struct HeadRows {
  char *data;
  int64_t stride; ///< bytes from row to row
  zero_rt_dtype stored;
};

/// A mask under one head: i1 says which keys are shown, a float is added.
struct HeadMask {
  const char *data;               ///< null: no mask
  int64_t queryStride, keyStride; ///< bytes
  zero_rt_dtype stored;

  [[gnu::always_inline]] bool shows() const { return data && stored == ZERO_RT_BOOL; }
  [[gnu::always_inline]] bool adds() const { return data && stored != ZERO_RT_BOOL; }
};

/// Segments of neighbouring queries or keys: all are in [low, high].
struct SegmentRange {
  int64_t low, high;

  [[gnu::always_inline]] void add(int64_t segment) {
    low = segment < low ? segment : low;
    high = segment > high ? segment : high;
  }
  [[gnu::always_inline]] bool has(int64_t segment) const {
    return low <= segment && segment <= high;
  }
  [[gnu::always_inline]] bool meets(SegmentRange other) const {
    return low <= other.high && other.low <= high;
  }
};

/// One head of queries and the keys and values that serve it.
struct AttentionHead {
  HeadRows q, k, v, o;
  HeadMask padding, mask;
  const int64_t *querySegments, *keySegments; ///< null: one segment
  float *lse;                                 ///< of each query
  // Backward alone:
  HeadRows dO, dQ, dK, dV;
};

/// The vector code for one kind of CPU. `scratch` is laid out as AttentionLayout says.
struct AttentionCode {
  /// Computes O and LSE of `head`. `first`: the scratch does not hold its keys yet.
  void (*forward)(const AttentionShape &shape, const AttentionLayout &layout,
                  const AttentionHead &head, bool first, float *scratch);
  /// Computes dQ of `head` and adds up dK and dV of its keys, from zero if it is their
  /// `first` head; stores them if it is the `last`.
  void (*backward)(const AttentionShape &shape, const AttentionLayout &layout,
                   const AttentionHead &head, bool first, bool last, float *scratch);
};

namespace attention_bf16 {
extern const AttentionCode kCode; ///< AVX512-BF16; factors of bf16
}
namespace attention_v4 {
extern const AttentionCode kCode; ///< x86-64-v4: AVX-512
}
namespace attention_v3 {
extern const AttentionCode kCode; ///< x86-64-v3: AVX2 and FMA
}
namespace attention_v1 {
extern const AttentionCode kCode; ///< the base of the architecture: SSE2, NEON
}

} // namespace zero::rt

#endif // RUNTIME_DEVICE_CPU_ATTENTION_TILES_H
