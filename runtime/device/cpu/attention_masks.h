//===- attention_masks.h - masks over the scores of a tile ------*- C++ -*-===//
//
// Scores change as zero::MaskedSoftmax says, number by number: what is added is added in
// its order, and what hides adds `fill`. Only attention_code.cpp includes it.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_ATTENTION_MASKS_H
#define RUNTIME_DEVICE_CPU_ATTENTION_MASKS_H

#include "runtime/device/cpu/attention_tiles.h"
#include "runtime/device/cpu/attention_vector.h"
#include "runtime/support/half.h"

namespace zero::rt::ATTENTION_ISA {

/// One row of a mask over the keys of a tile, in the form in which it is applied.
struct MaskRow {
  alignas(64) float added[kTileKeys];
  alignas(64) uint8_t shown[kTileKeys];

  /// Takes `count` keys from `key` on, of `query`.
  void stage(const HeadMask &mask, int64_t query, int64_t key, int64_t count) {
    const char *from = mask.data + query * mask.queryStride + key * mask.keyStride;
    if (mask.shows()) {
      for (int64_t i = 0; i < count; ++i)
        shown[i] = static_cast<uint8_t>(from[i * mask.keyStride]);
    } else if (mask.stored == ZERO_RT_F32) {
      for (int64_t i = 0; i < count; ++i)
        __builtin_memcpy(&added[i], from + i * mask.keyStride, sizeof(float));
    } else {
      uint16_t halves[kTileKeys];
      for (int64_t i = 0; i < count; ++i)
        __builtin_memcpy(&halves[i], from + i * mask.keyStride, sizeof(uint16_t));
      widenHalves(mask.stored, halves, added, static_cast<size_t>(count));
    }
  }
};

/// The masks of one head as they move over its tiles.
class Masks {
public:
  /// `ranges`: of the segments of each kKeyUnit keys, if there are segments.
  Masks(const AttentionShape &shape, const AttentionHead &head, const SegmentRange *ranges)
      : shape(shape), head(head), ranges(ranges) {}

  /// Goes to the tile whose keys begin at `first`.
  void moveTo(int64_t first) {
    key = first;
    count = kTileKeys < shape.keys - key ? kTileKeys : shape.keys - key;
    if (head.padding.data)
      padding.stage(head.padding, 0, key, count);
  }

  /// Masks the scores of `query` in columns [from, to) of the tile; those behind the last key
  /// become minus infinity.
  void apply(int64_t query, int64_t from, int64_t to, float *scores) {
    if (head.padding.adds())
      add(padding.added, from, to, scores);
    if (head.mask.data)
      mask.stage(head.mask, query, key, count);
    if (head.mask.adds())
      add(mask.added, from, to, scores);
    int64_t compared = from;
    for (int64_t i = from; head.querySegments && i < to;) {
      const int64_t end = smaller((i / kKeyUnit + 1) * kKeyUnit, to);
      if (compareSegments(query, i, end)) {
        hideColumns(query, compared, i, scores);
        hide(query, i, end, scores, /*isMixed=*/true);
        compared = end;
      }
      i = end;
    }
    hideColumns(query, compared, to, scores);
    if (to > count)
      cut(to, scores);
  }

  /// The largest number that masks but `fill` add to scores of `rows` queries from `first`
  /// on; NaN if one is.
  float mostAdded(int64_t first, int64_t rows) {
    float padded = 0, masked = 0;
    if (head.padding.adds())
      padded = mostOf(head.padding, 0, 1);
    if (head.mask.adds())
      masked = mostOf(head.mask, first, rows);
    return padded + masked;
  }

private:
  /// `at`, a key, as a column of this tile.
  int64_t columnOf(int64_t at) const {
    return at < key ? 0 : at - key > kTileKeys ? kTileKeys : at - key;
  }

  static void add(const float *added, int64_t from, int64_t to, float *scores) {
    for (int64_t i = from; i < to; i += kLanes)
      store(scores + i, load(scores + i) + load(added + i));
  }

  /// Whether keys in columns [from, to), of one unit, have another segment than `query`; `same`
  /// tells which have not.
  bool compareSegments(int64_t query, int64_t from, int64_t to) {
    const int64_t segment = head.querySegments[query];
    const SegmentRange range = ranges[(key + from) / kKeyUnit];
    const bool isMixed = range.low != segment || range.high != segment;
    for (int64_t i = from; isMixed && i < smaller(to, count); ++i)
      same[i] = head.keySegments[key + i] == segment;
    return isMixed;
  }

  /// Hides keys in columns that all have the segment of `query`.
  void hideColumns(int64_t query, int64_t from, int64_t to, float *scores) {
    if (head.padding.shows() || head.mask.shows())
      hide(query, from, to, scores);
    else
      hideByPosition(query, from, to, scores);
  }

  /// Hides what comes too early or too late for `query`.
  void hideByPosition(int64_t query, int64_t from, int64_t to, float *scores) const {
    const int64_t first = columnOf(shape.beginOf(query)), last = columnOf(shape.endOf(query));
    const int64_t early = (first + kLanes - 1) / kLanes * kLanes, late = last / kLanes * kLanes;
    if (first > from)
      hide(query, from, smaller(early, to), scores);
    hide(query, larger(from, larger(early, late)), to, scores);
  }

  /// `isMixed`: `same` tells which keys have the segment of the query.
  void hide(int64_t query, int64_t from, int64_t to, float *scores, bool isMixed = false) const {
    const Ints begin = static_cast<int32_t>(columnOf(shape.beginOf(query)));
    const Ints end = static_cast<int32_t>(columnOf(shape.endOf(query)));
    for (int64_t i = from; i < to; i += kLanes) {
      const Ints column = AllLanes::numbers() + static_cast<int32_t>(i);
      Ints shown = (column >= begin) & (column < end);
      if (head.padding.shows())
        shown &= isSet(padding.shown + i);
      if (head.mask.shows())
        shown &= isSet(mask.shown + i);
      if (isMixed)
        shown &= isSet(same + i);
      store(scores + i, load(scores + i) + (shown ? Floats(0.0f) : Floats(shape.fill)));
    }
  }

  void cut(int64_t columns, float *scores) const {
    const Ints end = static_cast<int32_t>(count);
    for (int64_t i = count / kLanes * kLanes; i < columns; i += kLanes)
      store(scores + i, AllLanes::numbers() + static_cast<int32_t>(i) < end
                            ? load(scores + i)
                            : Floats(-__builtin_inff()));
  }

  static Ints isSet(const uint8_t *bytes) {
    Bytes value;
    __builtin_memcpy(&value, bytes, sizeof(value));
    return __builtin_convertvector(value, Ints) != 0;
  }

  float mostOf(const HeadMask &source, int64_t first, int64_t rows) {
    float most = -__builtin_inff();
    for (int64_t row = first; row < first + rows; ++row)
      for (int64_t at = 0; at < shape.keys; at += kTileKeys) {
        const int64_t left = shape.keys - at < kTileKeys ? shape.keys - at : kTileKeys;
        mask.stage(source, row, at, left);
        for (int64_t i = 0; i < left; ++i)
          most = mask.added[i] > most || mask.added[i] != mask.added[i] ? mask.added[i] : most;
      }
    return most;
  }

  const AttentionShape &shape;
  const AttentionHead &head;
  const SegmentRange *ranges;
  int64_t key = 0, count = 0; ///< of the tile
  MaskRow padding{}, mask{};
  alignas(64) uint8_t same[kTileKeys] = {};
};

} // namespace zero::rt::ATTENTION_ISA

#endif // RUNTIME_DEVICE_CPU_ATTENTION_MASKS_H
