//===- attention_block.h - common code of both directions -------*- C++ -*-===//
//
// A block of queries meets the keys of its head, tile by tile. Products run over strips
// of rows; a strip leaves out the keys that come too late for all of its queries. Only
// attention_code.cpp includes it.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_ATTENTION_BLOCK_H
#define RUNTIME_DEVICE_CPU_ATTENTION_BLOCK_H

#include "runtime/device/cpu/attention_masks.h"

namespace zero::rt::ATTENTION_ISA {

inline constexpr int64_t kStrips = kTileQueries / kStrip;

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

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
      : shape(shape), layout(layout), head(head), scratch(scratch), masks(shape, head) {}

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

  /// Masks `columns` scores of a row of the tile, and scales them if its query is not scaled.
  void takeScores(int64_t row, int64_t columns) {
    if (columns == 0)
      return;
    float *scores = at(layout.scores) + row * kScoreStride;
    if (kPair != 1)
      scaleBy(shape.scale, columns, scores);
    masks.apply(first + row, columns, scores);
  }

  /// Each strip sees the keys that are not too late for its last query, or `all`.
  void see(bool all) {
    reach = 0;
    for (int64_t strip = 0; strip < kStrips; ++strip) {
      const int64_t last = smaller((strip + 1) * kStrip, rows) - 1;
      const int64_t shown = first + last + shape.causalOffset + 1;
      seen[strip] = !shape.causal || all ? shape.keys : shown < 0 ? 0 : smaller(shown, shape.keys);
      if (strip * kStrip >= rows)
        seen[strip] = 0;
      reach = seen[strip] > reach ? seen[strip] : reach;
    }
  }

  /// Whether keys that the causal mask hides have weight 0 in every row, judged by its largest
  /// score or `logSums` and by the numbers of queries and keys, since no score is computed: exp is
  /// 0 long before -104. False in doubt and for NaN.
  bool hidesAll(const float *logSums, bool sureOfInfinity) {
    if (!shape.causal || seen[0] == shape.keys)
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

  /// Columns of the current tile that are computed for `strip`.
  int64_t columnsOf(int64_t strip) const {
    const int64_t columns = seen[strip] - key;
    return columns <= 0 ? 0 : smaller(kTileKeys, (columns + kPanel - 1) / kPanel * kPanel);
  }
  /// Keys of the current tile that `strip` sees.
  int64_t keysOf(int64_t strip) const {
    const int64_t count = seen[strip] - key;
    return count <= 0 ? 0 : smaller(kTileKeys, count);
  }

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
    for (int64_t column = 0; column < end; column += kPanel)
      for (int64_t strip = 0; strip < kStrips; ++strip)
        if (column < columnsOf(strip))
          multiplyBlock<false, kPanelVectors>(
              left + strip * kStrip * padded, padded, columns + (key + column) * depth, kPanel,
              depth, to + strip * kStrip * kScoreStride + column, kScoreStride, false);
  }

  /// `to` (+)= `weights` times `right`, whose paired rows are keys.
  void multiplyKeys(const float *weights, const float *right, int64_t padded, float *to) const {
    for (int64_t strip = 0; strip < kStrips; ++strip)
      if (keysOf(strip) > 0)
        multiplyStrip<false>(weights + strip * kStrip * kScoreStride, kScoreStride,
                             right + key / kPair * padded, padded, wordsOf(keysOf(strip)),
                             to + strip * kStrip * padded, padded, padded, key > 0);
  }

  const AttentionShape &shape;
  const AttentionLayout &layout;
  const AttentionHead &head;
  float *const scratch;
  Masks masks;
  int64_t first = 0, rows = 0, key = 0;
  int64_t seen[kStrips] = {};
  int64_t reach = 0; ///< the most that a strip sees

private:
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
