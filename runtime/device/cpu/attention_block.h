//===- attention_block.h - common code of both directions -------*- C++ -*-===//
//
// A block of queries meets the keys of its head, tile by tile. Products run over strips
// of rows; a strip leaves out the vectors of keys before the first and behind the last one
// that positions and segments show to one of its queries. Only attention_code.cpp includes it.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_ATTENTION_BLOCK_H
#define RUNTIME_DEVICE_CPU_ATTENTION_BLOCK_H

#include "runtime/device/cpu/attention_masks.h"

namespace zero::rt::ATTENTION_ISA {

inline constexpr int64_t kStrips = kTileQueries / kStrip;

/// Reads `count` rows of `width` as f32, with zeros up to `padded`.
inline void readRows(const HeadRows &rows, int64_t first, int64_t count, int64_t width,
                     int64_t padded, float *to) {
  for (int64_t i = 0; i < count; ++i, to += padded) {
    const char *from = rows.data + (first + i) * rows.stride;
    if (rows.stored == ZERO_RT_F32)
      __builtin_memcpy(to, from, static_cast<size_t>(width) * sizeof(float));
    else
      widenHalves(rows.stored, from, to, static_cast<size_t>(width));
    for (int64_t j = width; j < padded; ++j)
      to[j] = 0;
  }
}

/// The same as words, which pair elements of a row; `padded` words a row.
inline void readWords(const HeadRows &rows, int64_t first, int64_t count, int64_t width,
                      int64_t padded, float *to) {
#if defined(ATTENTION_HALVES)
  for (int64_t i = 0; i < count; ++i, to += padded) {
    char *bytes = reinterpret_cast<char *>(to);
    const size_t size = static_cast<size_t>(width) * sizeof(uint16_t);
    __builtin_memcpy(bytes, rows.data + (first + i) * rows.stride, size);
    __builtin_memset(bytes + size, 0, static_cast<size_t>(padded) * sizeof(float) - size);
  }
#else
  readRows(rows, first, count, width, padded, to);
#endif
}

inline void writeRow(const HeadRows &rows, int64_t row, int64_t width, const float *from) {
  char *to = rows.data + row * rows.stride;
  if (rows.stored == ZERO_RT_F32)
    __builtin_memcpy(to, from, static_cast<size_t>(width) * sizeof(float));
  else
    narrowToHalves(rows.stored, from, to, static_cast<size_t>(width));
}

inline void clear(float *floats, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    floats[i] = 0;
}

inline void scaleBy(float factor, int64_t count, float *floats) {
  for (int64_t i = 0; i < count; i += kLanes)
    store(floats + i, load(floats + i) * factor);
}

/// The dot product of `count` words, a multiple of kWidthUnit.
inline float dotOf(const float *a, const float *b, int64_t count) {
  Floats sum = 0.0f;
  for (int64_t i = 0; i < count; i += kLanes)
    sum = addProducts(load(a + i), load(b + i), sum);
  return sumOf(sum);
}

/// Queries [first, first + rows) and the tile of keys that begins at `key`.
class Block {
public:
  Block(const AttentionShape &shape, const AttentionLayout &layout, const AttentionHead &head,
        float *scratch)
      : shape(shape), layout(layout), head(head), scratch(scratch),
        ranges(head.keySegments ? reinterpret_cast<SegmentRange *>(scratch + layout.segments)
                                : nullptr),
        masks(shape, head, ranges) {}

protected:
  float *at(int64_t offset) const { return scratch + offset; }

  /// Packs keys as columns, and as paired rows where they are wanted.
  void packKeys(float *keyRows) {
    float longest = 0;
    for (int64_t first = 0; first < shape.keys; first += kKeyUnit) {
      float *rows = keyRows && kPair == 1 ? keyRows + first * layout.paddedWidth : at(layout.rows);
      const int64_t count = packColumns(head.k, first, shape.width, wordsOf(layout.paddedWidth),
                                        rows, at(layout.keyColumns));
      longest = longestOf(count, rows, longest);
      if (keyRows)
        pair(rows, kKeyUnit, layout.paddedWidth, keyRows + first / kPair * layout.paddedWidth);
    }
    *at(layout.longestKey) = longest;
    for (int64_t first = 0; ranges && first < shape.keys; first += kKeyUnit)
      ranges[first / kKeyUnit] =
          rangeOf(head.keySegments, first, smaller(first + kKeyUnit, shape.keys));
  }

  /// Packs kKeyUnit rows from `first` on into `rows` and behind each other into `columns`;
  /// those behind the last key are zeros. `padded` words are a row. Returns how many there are.
  int64_t packColumns(const HeadRows &from, int64_t first, int64_t width, int64_t padded,
                      float *rows, float *columns) {
    const int64_t count = readUnit(from, first, width, padded, rows), words = wordsOf(width);
    for (int64_t i = 0; i < kKeyUnit; i += kPanel)
      transposePanel(rows + i * padded, padded, words, columns + (first + i) * words);
    return count;
  }

  /// Packs all values as paired rows.
  void packValues() {
    if (kPair == 1)
      return readRows(head.v, 0, shape.keys, shape.valueWidth, layout.paddedValue,
                      at(layout.values));
    for (int64_t first = 0; first < shape.keys; first += kKeyUnit) {
      readUnit(head.v, first, shape.valueWidth, wordsOf(layout.paddedValue), at(layout.rows));
      pair(at(layout.rows), kKeyUnit, layout.paddedValue,
           at(layout.values) + first / kPair * layout.paddedValue);
    }
  }

  /// Pairs `count` rows of `padded` elements; rows of floats are paired as they are.
  static void pair([[maybe_unused]] const float *rows, [[maybe_unused]] int64_t count,
                   [[maybe_unused]] int64_t padded, [[maybe_unused]] float *to) {
#if defined(ATTENTION_HALVES)
    pairRows(rows, count, wordsOf(padded), to);
#endif
  }

  /// Takes the rows of a tile as words from `from` on, with zeros behind the last one.
  void takeRows(const HeadRows &from, int64_t width, int64_t padded, float *to) const {
    const int64_t words = wordsOf(padded);
    readWords(from, first, rows, width, words, to);
    clear(to + rows * words, (kTileQueries - rows) * words);
  }

  void takeQueries(int64_t from) {
    first = from;
    rows = smaller(kTileQueries, shape.queries - first);
    takeRows(head.q, shape.width, layout.paddedWidth, at(layout.queries));
    if (kPair == 1)
      scaleBy(shape.scale, rows * layout.paddedWidth, at(layout.queries));
  }

  /// The columns [from, to) of the current tile that are computed for a strip: whole vectors.
  struct Columns {
    int64_t from, to;
  };

  /// Masks scores of a row of the tile, and scales them if its query is not scaled.
  void takeScores(int64_t row, Columns columns) {
    if (columns.from >= columns.to)
      return;
    float *scores = at(layout.scores) + row * kScoreStride;
    if (kPair != 1)
      scaleBy(shape.scale, columns.to - columns.from, scores + columns.from);
    masks.apply(first + row, columns.from, columns.to, scores);
  }

  /// Each strip sees the keys from the first to the last one that is shown to one of its queries,
  /// or `all`.
  void see(bool all) {
    seesAll = true, firstSeen = shape.keys, reach = 0;
    for (int64_t strip = 0; strip < kStrips; ++strip) {
      if (strip * kStrip >= rows) {
        seen[strip] = {0, 0};
        continue;
      }
      const Keys keys = all ? Keys{0, shape.keys} : keysShownTo(strip);
      seen[strip] = keys.begin < keys.end ? keys : Keys{0, 0};
      seesAll = seesAll && keys.begin == 0 && keys.end == shape.keys;
      firstSeen = seen[strip].end > 0 ? smaller(keys.begin, firstSeen) : firstSeen;
      reach = seen[strip].end > reach ? seen[strip].end : reach;
    }
  }

  /// Whether keys that no strip sees have weight 0 in every row, judged by its largest score or
  /// `logSums` and by the numbers of queries and keys, since no score is computed: exp is 0 long
  /// before -104. False in doubt and for NaN.
  bool hidesAll(const float *logSums, bool sureOfInfinity) {
    if (seesAll)
      return true;
    const float added = masks.mostAdded(first, rows) + shape.fill;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t words = wordsOf(layout.paddedWidth);
      const float *query = at(layout.queries) + row * words;
      float length = __builtin_sqrtf(dotOf(query, query, words));
      if (kPair != 1)
        length *= __builtin_fabsf(shape.scale);
      const float most = 1.001f * length * *at(layout.longestKey) + added;
      const bool nothing = sureOfInfinity && most == -__builtin_inff();
      if (!nothing && !(most < logSums[row] - 104))
        return false;
    }
    return true;
  }

  Columns columnsOf(int64_t strip) const {
    const int64_t to = endOfKeys(strip);
    return {beginOfKeys(strip), (to + kLanes - 1) / kLanes * kLanes};
  }
  bool sees(int64_t strip, int64_t from) const {
    return seen[strip].begin <= from && from < seen[strip].end;
  }
  /// The first tile of which a strip sees a key.
  int64_t firstTile() const { return firstSeen / kTileKeys * kTileKeys; }

  void moveTo(int64_t tile) {
    key = tile;
    masks.moveTo(tile);
  }

  /// `to` = `left` times packed `columns`, over the keys of the tile. Rows of `left` have `width`
  /// elements, `padded` with zeros.
  void multiplyColumns(const float *left, int64_t padded, const float *columns, int64_t width,
                       float *to) const {
    padded = wordsOf(padded);
    const int64_t depth = wordsOf(width);
    const int64_t end = smaller(kTileKeys, reach - key);
    for (int64_t panel = firstSeen > key ? (firstSeen - key) / kPanel * kPanel : 0; panel < end;
         panel += kPanel)
      for (int64_t strip = 0; strip < kStrips; ++strip)
        multiplyPanel(strip, panel, left + strip * kStrip * padded, padded,
                      columns + (key + panel) * depth, depth,
                      to + strip * kStrip * kScoreStride + panel);
  }

  /// `to` (+)= `weights` times `right`, whose paired rows are keys.
  void multiplyKeys(const float *weights, const float *right, int64_t padded, float *to) const {
    for (int64_t strip = 0; strip < kStrips; ++strip) {
      const int64_t from = beginOfKeys(strip), count = endOfKeys(strip) - from;
      if (count > 0)
        multiplyStrip<false>(weights + strip * kStrip * kScoreStride + from / kPair, kScoreStride,
                             right + (key + from) / kPair * padded, padded, wordsOf(count),
                             to + strip * kStrip * padded, padded, padded, key > seen[strip].begin);
    }
  }

  const AttentionShape &shape;
  const AttentionLayout &layout;
  const AttentionHead &head;
  float *const scratch;
  SegmentRange *const ranges; ///< of each kKeyUnit keys; null: no segments
  Masks masks;
  int64_t first = 0, rows = 0, key = 0;
  int64_t firstSeen = 0, reach = 0; ///< the keys of all strips: from the first, to behind the last

private:
  /// The keys that a strip sees, from the beginning of a vector on.
  struct Keys {
    int64_t begin, end;
  };

  /// The keys of the current tile that `strip` sees, as columns; empty if the end is not behind.
  int64_t beginOfKeys(int64_t strip) const {
    const int64_t begin = seen[strip].begin - key;
    return begin < 0 ? 0 : begin;
  }
  int64_t endOfKeys(int64_t strip) const {
    const int64_t end = seen[strip].end - key;
    return end < 0 ? 0 : smaller(kTileKeys, end);
  }

  static SegmentRange rangeOf(const int64_t *segments, int64_t from, int64_t to) {
    SegmentRange range{segments[from], segments[from]};
    for (int64_t i = from + 1; i < to; ++i)
      range.add(segments[i]);
    return range;
  }

  /// One strip times one panel of columns, or the vector of it whose keys the strip sees.
  void multiplyPanel(int64_t strip, int64_t panel, const float *left, int64_t padded,
                     const float *columns, int64_t depth, float *to) const {
    static_assert(kPanelVectors == 2);
    const bool low = sees(strip, key + panel), high = sees(strip, key + panel + kLanes);
    if (low && high)
      multiplyBlock<false, 2>(left, padded, columns, kPanel, depth, to, kScoreStride, false);
    else if (low || high)
      multiplyBlock<false, 1>(left, padded, columns + (low ? 0 : kLanes), kPanel, depth,
                              to + (low ? 0 : kLanes), kScoreStride, false);
  }

  Keys keysShownTo(int64_t strip) const {
    const int64_t from = first + strip * kStrip, to = smaller(from + kStrip, first + rows);
    Keys keys{shape.beginOf(from), shape.endOf(to - 1)};
    if (ranges)
      keys = cutBySegments(rangeOf(head.querySegments, from, to), keys);
    return {keys.begin / kLanes * kLanes, keys.end};
  }

  /// `keys` without those at both ends whose segments are not in `range`.
  Keys cutBySegments(SegmentRange range, Keys keys) const {
    while (keys.begin < keys.end && !ranges[keys.begin / kKeyUnit].meets(range))
      keys.begin = (keys.begin / kKeyUnit + 1) * kKeyUnit;
    while (keys.begin < keys.end && !range.has(head.keySegments[keys.begin]))
      ++keys.begin;
    while (keys.begin < keys.end && !ranges[(keys.end - 1) / kKeyUnit].meets(range))
      keys.end = (keys.end - 1) / kKeyUnit * kKeyUnit;
    while (keys.begin < keys.end && !range.has(head.keySegments[keys.end - 1]))
      --keys.end;
    return keys;
  }

  Keys seen[kStrips] = {};
  bool seesAll = false; ///< each strip every key

  /// Reads kKeyUnit rows from `first` on as words, with zeros behind the last key. Returns how many
  /// keys there are.
  int64_t readUnit(const HeadRows &from, int64_t first, int64_t width, int64_t padded,
                   float *rows) const {
    const int64_t count = smaller(kKeyUnit, shape.keys - first);
    readWords(from, first, count, width, padded, rows);
    clear(rows + count * padded, (kKeyUnit - count) * padded);
    return count;
  }

  /// The maximum of `longest` and the norms of `count` packed keys; infinity if one is not finite.
  float longestOf(int64_t count, const float *rows, float longest) const {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t words = wordsOf(layout.paddedWidth);
      const float *row = rows + i * words;
      const float length = __builtin_sqrtf(dotOf(row, row, words));
      longest = length <= longest ? longest : length == length ? length : __builtin_inff();
    }
    return longest;
  }
};

} // namespace zero::rt::ATTENTION_ISA

#endif // RUNTIME_DEVICE_CPU_ATTENTION_BLOCK_H
