//===- attention_code.cpp - tiled attention in vectors --------------------===//
// Compiled once for each kind of CPU; see attention_tiles.h. Forward is a one-pass softmax: the
// running maximum of a row shifts its exponents, and the sums are rescaled when it grows. Backward
// recomputes the weights from the sums that forward saved (Dao et al., FlashAttention, 2022).
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/attention_block.h"

namespace zero::rt::ATTENTION_ISA {

static constexpr float kInfinity = __builtin_inff();

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

namespace {
class Forward : Block {
public:
  using Block::Block;

  void run(bool pack) {
    if (pack) {
      packKeys(nullptr);
      packValues();
    }
    for (int64_t from = 0; from < shape.queries; from += kTileQueries) {
      takeQueries(from);
      see(false);
      attend();
      if (!hidesAll(top, /*sureOfInfinity=*/true)) {
        see(true);
        attend();
      }
      finish();
    }
  }

private:
  /// O, not divided yet, of the queries, with the largest scores and sums of rows.
  void attend() {
    clear(at(layout.result), kTileQueries * layout.paddedValue);
    for (int64_t row = 0; row < kTileQueries; ++row)
      top[row] = -kInfinity, sum[row] = 0;
    for (int64_t tile = firstTile(); tile < reach; tile += kTileKeys) {
      moveTo(tile);
      multiplyColumns(at(layout.queries), layout.paddedWidth, at(layout.keyColumns), shape.width,
                      at(layout.scores));
      for (int64_t row = 0; row < rows; ++row)
        weigh(row, columnsOf(row / kStrip));
      multiplyKeys(at(layout.scores), at(layout.values), layout.paddedValue, at(layout.result));
    }
  }

  /// Turns the scores of a row of the tile into weights.
  void weigh(int64_t row, Columns columns) {
    float *scores = at(layout.scores) + row * kScoreStride;
    if (columns.from >= columns.to)
      return;
    takeScores(row, columns);
    Floats most = top[row];
    for (int64_t i = columns.from; i < columns.to; i += kLanes)
      most = larger(most, load(scores + i));
    const float newTop = largestOf(most);
    const float shift = newTop == -kInfinity ? 0 : newTop;
    Floats total = 0.0f;
    for (int64_t i = columns.from; i < columns.to; i += kLanes) {
      const Floats weight = exponential(load(scores + i) - shift);
      store(scores + i, weight);
      total += weight;
    }
    if (newTop != top[row] && key > 0) {
      const float shrink = exponential(top[row] - shift);
      sum[row] *= shrink;
      scaleBy(shrink, layout.paddedValue, at(layout.result) + row * layout.paddedValue);
    }
    sum[row] += sumOf(total);
    top[row] = newTop;
#if defined(ATTENTION_HALVES)
    packRow(scores + columns.from, columns.to - columns.from, scores + columns.from / kPair);
#endif
  }

  /// Divides and stores O, and stores LSE. A sum of zero: every score is minus infinity.
  void finish() {
    const float nothing = shape.guard || shape.keys == 0 ? 0 : __builtin_nanf("");
    const float logOfNothing = shape.guard       ? kInfinity
                               : shape.keys == 0 ? -kInfinity
                                                 : __builtin_nanf("");
    for (int64_t row = 0; row < rows; ++row) {
      float *result = at(layout.result) + row * layout.paddedValue;
      const bool none = sum[row] == 0;
      scaleBy(none ? nothing : 1 / sum[row], layout.paddedValue, result);
      writeRow(head.o, first + row, shape.valueWidth, result);
      head.lse[first + row] = none ? logOfNothing : top[row] + __builtin_logf(sum[row]);
    }
  }

  float top[kTileQueries], sum[kTileQueries];
};
} // namespace

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

// Above this sum, a float stores its logarithm with fewer than 12 bits.
static constexpr float kLargeSum = 4096;

namespace {
class Backward : Block {
public:
  using Block::Block;

  void run(bool isFirst, bool isLast) {
    if (isFirst)
      pack();
    for (int64_t from = 0; from < shape.queries; from += kTileQueries) {
      takeQueries(from);
      takeGradient();
      see(false);
      if (!hidesAll(lse, /*sureOfInfinity=*/false))
        see(true);
      takeShares();
      clear(at(layout.result), kTileQueries * layout.paddedWidth);
      for (int64_t tile = firstTile(); tile < reach; tile += kTileKeys)
        descend(tile);
      storeRows(head.dQ, first, rows, shape.width, layout.paddedWidth, shape.scale,
                at(layout.result));
    }
    if (isLast) {
      storeRows(head.dK, 0, shape.keys, shape.width, layout.paddedWidth,
                kPair == 1 ? 1 : shape.scale, at(layout.keySums));
      storeRows(head.dV, 0, shape.keys, shape.valueWidth, layout.paddedValue, 1,
                at(layout.valueSums));
    }
  }

private:
  void pack() {
    packKeys(at(layout.keyRows));
    for (int64_t from = 0; from < shape.keys; from += kKeyUnit)
      packColumns(head.v, from, shape.valueWidth, wordsOf(layout.paddedValue), at(layout.rows),
                  at(layout.valueColumns));
    clear(at(layout.keySums), layout.paddedKeys * layout.paddedWidth);
    clear(at(layout.valueSums), layout.paddedKeys * layout.paddedValue);
  }

  /// Reads dO of the queries, and the row sums of dO times O.
  void takeGradient() {
    float *gradient = at(layout.gradient), *result = at(layout.rows);
    const int64_t words = wordsOf(layout.paddedValue);
    takeRows(head.dO, shape.valueWidth, layout.paddedValue, gradient);
    for (int64_t row = 0; row < rows; ++row) {
      readWords(head.o, first + row, 1, shape.valueWidth, words, result);
      shared[row] = dotOf(gradient + row * words, result, words);
      lse[row] = head.lse[first + row];
    }
    pair(gradient, kTileQueries, layout.paddedValue, at(layout.gradientPairs));
    pair(at(layout.queries), kTileQueries, layout.paddedWidth, at(layout.queryPairs));
  }

  static bool isLarge(float sum) {
    // An infinity less itself is no number. NOLINTNEXTLINE(misc-redundant-expression)
    return (sum > kLargeSum || sum < -kLargeSum) && sum - sum == 0;
  }

  /// Recomputes the sum of exp(score - LSE) in rows that a large number hides entirely: LSE is that
  /// number, without the logarithm of the number of keys.
  void takeShares() {
    bool any = false;
    for (int64_t row = 0; row < rows; ++row) {
      share[row] = isLarge(lse[row]) ? 0 : 1;
      any = any || share[row] == 0;
    }
    if (!any)
      return;
    for (int64_t tile = firstTile(); tile < reach; tile += kTileKeys) {
      moveTo(tile);
      multiplyColumns(at(layout.queries), layout.paddedWidth, at(layout.keyColumns), shape.width,
                      at(layout.scores));
      for (int64_t row = 0; row < rows; ++row)
        if (isLarge(lse[row]))
          share[row] += sumOfWeights(row, columnsOf(row / kStrip));
    }
    for (int64_t row = 0; row < rows; ++row)
      share[row] = 1 / share[row];
  }

  float sumOfWeights(int64_t row, Columns columns) {
    float *scores = at(layout.scores) + row * kScoreStride;
    takeScores(row, columns);
    Floats total = 0.0f;
    for (int64_t i = columns.from; i < columns.to; i += kLanes)
      total += exponential(load(scores + i) - lse[row]);
    return sumOf(total);
  }

  /// Adds the contribution of a tile's keys to all three gradients.
  void descend(int64_t tile) {
    moveTo(tile);
    multiplyColumns(at(layout.queries), layout.paddedWidth, at(layout.keyColumns), shape.width,
                    at(layout.scores));
    multiplyColumns(at(layout.gradient), layout.paddedValue, at(layout.valueColumns),
                    shape.valueWidth, at(layout.gradScores));
    for (int64_t row = 0; row < rows; row += kPair)
      differentiate(row, columnsOf(row / kStrip));
    const int64_t end = smaller(reach, key + kTileKeys);
    for (int64_t from = key > firstSeen ? key : firstSeen; from < end; from += kStrip) {
      addToKeys(from, at(layout.scores), at(layout.gradientPairs), layout.paddedValue,
                at(layout.valueSums));
      addToKeys(from, pairedGradScores(), at(layout.queryPairs), layout.paddedWidth,
                at(layout.keySums));
    }
    multiplyKeys(at(layout.gradScores), at(layout.keyRows), layout.paddedWidth, at(layout.result));
  }

  struct Gradients {
    Floats weight, score;
  };

  /// The weights of scores from `column` on, and the gradients of the scores.
  Gradients gradientsOf(int64_t row, int64_t column) const {
    const int64_t place = row * kScoreStride + column;
    const Floats score = load(at(layout.scores) + place);
    const Floats gradient = load(at(layout.gradScores) + place);
    const Floats weight = exponential(score - lse[row]) * share[row];
    return {weight, weight * (gradient - shared[row])};
  }

#if defined(ATTENTION_HALVES)
  /// Converts the scores of two rows to weights and the gradients of weights to those of scores, in
  /// words: those of scores along keys, in place, and both in pairs of rows, weights into the first
  /// row of scores and gradients of scores into the second.
  void differentiate(int64_t row, Columns columns) {
    const bool isPair = row + 1 < rows; // otherwise the second row is zeros
    takeScores(row, columns);
    if (isPair)
      takeScores(row + 1, columns);
    float *pairs = at(layout.scores) + row * kScoreStride;
    float *gradients = at(layout.gradScores) + row * kScoreStride;
    for (int64_t i = columns.from; i < columns.to; i += kLanes) {
      const Gradients low = gradientsOf(row, i);
      const Gradients high =
          isPair ? gradientsOf(row + 1, i) : Gradients{Floats(0.0f), Floats(0.0f)};
      store(pairs + i, pairOf(low.weight, high.weight));
      store(pairs + kScoreStride + i, pairOf(low.score, high.score));
      const Shorts first = toHalves(low.score), second = toHalves(high.score);
      __builtin_memcpy(gradients + i / 2, &first, sizeof(first));
      __builtin_memcpy(gradients + kScoreStride + i / 2, &second, sizeof(second));
    }
  }

  float *pairedGradScores() const { return at(layout.scores) + kScoreStride; }
#else
  /// Converts scores to weights, and the gradients of weights to those of scores.
  void differentiate(int64_t row, Columns columns) {
    takeScores(row, columns);
    for (int64_t i = columns.from; i < columns.to; i += kLanes) {
      const auto [weight, score] = gradientsOf(row, i);
      store(at(layout.scores) + row * kScoreStride + i, weight);
      store(at(layout.gradScores) + row * kScoreStride + i, score);
    }
  }

  float *pairedGradScores() const { return at(layout.gradScores); }
#endif

  /// Adds to a strip of keys from `from` on: transposed `weights` times `right`, over each run of
  /// strips of queries that see them.
  void addToKeys(int64_t from, const float *weights, const float *right, int64_t padded,
                 float *sums) const {
    for (int64_t strip = 0; strip < kStrips; ++strip) {
      const int64_t row = strip * kStrip;
      while (strip < kStrips && sees(strip, from))
        ++strip;
      const int64_t count = smaller(strip * kStrip, rows) - row;
      if (count > 0)
        multiplyStrip<true>(weights + row * kScoreStride + from - key, kPair * kScoreStride,
                            right + row / kPair * padded, padded, wordsOf(count),
                            sums + from * padded, padded, padded, true);
    }
  }

  void storeRows(const HeadRows &to, int64_t from, int64_t count, int64_t width, int64_t padded,
                 float factor, float *values) const {
    if (factor != 1)
      scaleBy(factor, count * padded, values);
    for (int64_t i = 0; i < count; ++i)
      writeRow(to, from + i, width, values + i * padded);
  }

  float lse[kTileQueries], shared[kTileQueries], share[kTileQueries];
};
} // namespace

static void forward(const AttentionShape &shape, const AttentionLayout &layout,
                    const AttentionHead &head, bool first, float *scratch) {
  Forward(shape, layout, head, scratch).run(first);
}

static void backward(const AttentionShape &shape, const AttentionLayout &layout,
                     const AttentionHead &head, bool first, bool last, float *scratch) {
  Backward(shape, layout, head, scratch).run(first, last);
}

const AttentionCode kCode{forward, backward};

} // namespace zero::rt::ATTENTION_ISA
