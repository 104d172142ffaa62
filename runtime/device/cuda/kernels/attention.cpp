//===- attention.cpp - attention by tiles on a GPU ------------------------===//
//
// Compiled to PTX when the runtime is built, without the CUDA toolkit, once for each type of
// factors and padded width: ZERO_ATTENTION_FACTOR and ZERO_ATTENTION_WIDTH. The algorithm is that
// of FlashAttention-2 (Dao, 2023, sections 3.1 and 3.2): forward keeps a running maximum and sum of
// each row; backward recomputes the weights from the saved logarithms of the sums. Nothing is added
// atomically: one kernel sums the gradients of keys and values over queries, another those of
// queries over keys, each in a fixed order, so the weights are computed twice.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/kernels/attention_products.h"
#include "runtime/device/cuda/kernels/attention_segments.h"

namespace zero::rt::cuda {
namespace {

// A function that is called would need its arguments in memory.
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)

template <typename Factor, int Width>
struct Kernel {
  using Element = typename Factor::Element;
  using By = Products<Factor, Width>;
  template <bool Kept>
  using Own = typename By::template Own<Kept>;
  using Tiles = AttentionTiles<Factor::kIsFloat, Width>;
  using Place = SHARED Element *;
  static constexpr bool kIsFloat = Factor::kIsFloat;
  static constexpr int kOwn = Tiles::kOwn, kVisited = Tiles::kVisited, kStride = Tiles::kStride;

  const AttentionParameters &p;
  SHARED char *memory;
  SHARED char *stages;
  SHARED float *masks, *weights; ///< the latter of this warp
  int batch, head, group;

  /// `tensors`: of the block's own rows.
  Kernel(const AttentionParameters &p, SHARED char *memory, int tensors) : p(p), memory(memory) {
    stages = memory + tensors * Tiles::kOwnBytes;
    SHARED char *end = stages + Tiles::kStages * Tiles::kStageBytes;
    weights = reinterpret_cast<SHARED float *>(end) + warpNumber() * 16 * Tiles::kWeightStride;
    masks = reinterpret_cast<SHARED float *>(end + Tiles::kWeightBytes);
  }

  Place own(int tensor) const {
    return reinterpret_cast<Place>(memory + tensor * Tiles::kOwnBytes);
  }
  Place visited(int stage, int tensor) const {
    return reinterpret_cast<Place>(stages + stage * Tiles::kStageBytes) +
           tensor * kVisited * kStride;
  }
  /// Numbers of the visited queries: LSE, delta and share of each.
  SHARED float *savedOf(int stage) const {
    return reinterpret_cast<SHARED float *>(visited(stage, 2));
  }

  //===--- Copies ---===//

  /// Rows of a head, which are copied tile by tile.
  struct Source {
    const GpuRows *rows;
    int last, width; ///< the numbers of rows and columns that there are
    long start;      ///< of the head, in elements
    int row;         ///< the first of the next tile
    const char *own; ///< what this thread copies first of that tile, if rows are read as vectors
  };

  static constexpr int kVectors = Width / 8, kRowsAtOnce = Tiles::kThreads / kVectors;

  Source sourceOf(const GpuRows &rows, int headOfRows, int row, int last, int width) const {
    const long start = batch * rows.batch + headOfRows * rows.head;
    const long own =
        start + (row + threadNumber() / kVectors) * rows.row + threadNumber() % kVectors * 8;
    return {&rows, last, width, start, row, rows.data + own * sizeof(Element)};
  }

  /// Copies the next `Count` rows into shared memory, with zeros behind the last row and behind
  /// `width`. Needs awaitCopies().
  template <int Count>
  void fill(Place to, Source &source) const {
    const GpuRows &rows = *source.rows;
    if (!kIsFloat && p.vectors) {
      int row = threadNumber() / kVectors;
      const int column = threadNumber() % kVectors * 8;
      UNROLLED for (int i = 0; i < Count / kRowsAtOnce; ++i, row += kRowsAtOnce) {
        copyVector(to + row * kStride + column, source.own,
                   source.row + row < source.last && column < source.width);
        source.own += kRowsAtOnce * rows.row * sizeof(Element);
      }
    } else {
      for (int i = threadNumber(); i < Count * Width; i += Tiles::kThreads) {
        const int row = i / Width, column = i % Width;
        Element value = 0;
        if (source.row + row < source.last && column < source.width)
          value = Factor::take(rows, source.start + (source.row + row) * rows.row + column);
        to[row * kStride + column] = value;
      }
    }
    source.row += Count;
  }
  /// The block's own rows.
  void fillOwn(int tensor, const GpuRows &rows, int headOfRows, int row, int last,
               int width) const {
    Source source = sourceOf(rows, headOfRows, row, last, width);
    fill<kOwn>(own(tensor), source);
  }

  /// The same of what is saved of `kVisited` queries.
  void fillSaved(SHARED float *to, int headOfRows, int first) const {
    const int i = threadNumber();
    static_assert(kVisited <= Tiles::kThreads);
    if (i >= kVisited)
      return;
    const bool there = first + i < p.queries;
    const long row = rowOf(headOfRows, first + i);
    copyNumber(to + i, p.lse + row, there);
    copyNumber(to + kVisited + i, p.delta + row, there);
    copyNumber(to + 2 * kVisited + i, p.share + row, there);
  }

  /// Calls body(stage) for each of `tiles`. copy(stage) is called for each in the same order, and
  /// copies while the tile before is in use.
  template <typename Copy, typename Body>
  void visit(int tiles, Copy copy, Body body) const {
    constexpr bool kAhead = Tiles::kStages > 1;
    if (kAhead && tiles > 0)
      copy(0);
    for (int tile = 0, stage = 0; tile < tiles; ++tile) {
      if (!kAhead) {
        __syncthreads(); // all warps have used the tile before
        copy(0);
      }
      awaitCopies();
      __syncthreads();
      if (kAhead && tile + 1 < tiles)
        copy(stage ^ 1);
      body(stage);
      stage ^= kAhead;
    }
  }

  //===--- Scores ---===//

  /// The keys that positions show to `query` are [beginOf(query), endOf(query)).
  int beginOf(int query) const { return p.window ? query + p.causalOffset + 1 - p.window : 0; }
  int endOf(int query) const {
    const int end = query + p.causalOffset + 1;
    return !p.causal ? p.keys : end < p.prefix ? p.prefix : end;
  }
  bool isInReach(int query, int key) const { return beginOf(query) <= key && key < endOf(query); }

  /// The sum of what masks add to a score; what hides adds `fill`, as on the CPU.
  float added(int query, int key) const {
    float value = 0;
    bool shown = isInReach(query, key);
    auto apply = [&](const GpuMask &mask, long at) {
      if (mask.stored == StoredAs::Shown)
        shown = shown && mask.data[at];
      else
        value += loadAs(mask.stored, mask.data, at);
    };
    if (p.padding.data)
      apply(p.padding, batch * p.padding.batch + key * p.padding.key);
    if (p.mask.data)
      apply(p.mask,
            batch * p.mask.batch + head * p.mask.head + query * p.mask.query + key * p.mask.key);
    if (p.querySegments.data)
      shown = shown && p.querySegments.data[batch * p.querySegments.batch + query] ==
                           p.keySegments.data[batch * p.keySegments.batch + key];
    return shown ? value : value + p.fill;
  }

  bool hasMasks() const { return p.padding.data || p.mask.data || p.querySegments.data; }
  bool isThere(int query, int key) const { return query < p.queries && key < p.keys; }

  /// Puts what masks add to the scores of the block's rows from `first` on and of the visited
  /// columns from `visitedFirst` on into shared memory. `ownKeys`: the rows are keys.
  template <bool OwnKeys>
  void addMasks(int first, int visitedFirst) const {
    if (!hasMasks())
      return;
    for (int i = threadNumber(); i < kOwn * kVisited; i += Tiles::kThreads) {
      const int row = first + i / kVisited, column = visitedFirst + i % kVisited;
      const int query = OwnKeys ? column : row, key = OwnKeys ? row : column;
      masks[i / kVisited * Tiles::kMaskStride + i % kVisited] =
          isThere(query, key) ? added(query, key) : 0;
    }
    __syncthreads();
  }

  /// Whether the `queries` from `query` on all see the `keys` from `key` on, without a mask: then
  /// the score of a product is that times a positive scale.
  bool isPlain(int query, int queries, int key, int keys) const {
    return !hasMasks() && p.scale > 0 && key + keys <= p.keys && key + keys <= endOf(query) &&
           beginOf(query + queries - 1) <= key;
  }

  /// A product of a query and a key becomes a score. `n` and `i`: its place in the warp's sums.
  float score(float product, int query, int key, int n, int i) const {
    if (!isThere(query, key))
      return -kInfinity;
    const float value = product * p.scale;
    const int row = warpNumber() * 16 + laneNumber() / 4 + i / 2 * 8;
    if (hasMasks())
      return value + masks[row * Tiles::kMaskStride + n * 8 + laneNumber() % 4 * 2 + i % 2];
    return isInReach(query, key) ? value : value + p.fill;
  }

  /// Behind the last key that a query before `query` sees.
  int endOfKeys(int query) const {
    const int end = endOf(query - 1);
    return p.skips && end < p.keys ? end : p.keys;
  }
  /// The first key that a query from `query` on sees, or one shortly before it in a tile.
  int beginOfKeys(int query) const {
    const int begin = p.skips ? beginOf(query) : 0;
    return begin > 0 ? begin / kVisited * kVisited : 0;
  }

  /// Leaves out visited rows at both ends of [begin, end) in whose tiles none has a segment of the
  /// block's own rows, of which there are `rows` in all.
  void skipSegments(const GpuSegments &own, int first, int rows, const GpuSegments &visited,
                    int &begin, int &end) const {
    if (p.skips && own.data)
      cutBySegments<kVisited>(own.data + batch * own.batch, first,
                              first + kOwn < rows ? first + kOwn : rows,
                              visited.data + batch * visited.batch, begin, end);
  }

  long rowOf(int ofHead, int query) const {
    return (long(batch) * p.heads + ofHead) * p.queries + query;
  }
  long rowOf(int query) const { return rowOf(head, query); }

  /// Stores 16 rows of the warp from `first` on. They pass shared memory, which no longer holds
  /// tiles: threads then store neighbouring elements.
  void store(const GpuRows &rows, int headOfRows, int first, int last, int width,
             const float (&factors)[2], const Sums<Width> &sums) const {
    constexpr int kStageStride = Width + 4;
    static_assert(kOwn * kStageStride * 4 <= Tiles::bytes(1, false));
    const int lane = laneNumber();
    SHARED float *stage =
        reinterpret_cast<SHARED float *>(memory) + warpNumber() * 16 * kStageStride;
    __syncthreads(); // the tiles may still be read
    UNROLLED for (int n = 0; n < Width / 8; ++n) UNROLLED for (int i = 0; i < 4; ++i)
        stage[(lane / 4 + i / 2 * 8) * kStageStride + n * 8 + lane % 4 * 2 + i % 2] =
            sums.at[n][i] * factors[i / 2];
    __nvvm_bar_warp_sync(-1);
    const long start = batch * rows.batch + headOfRows * rows.head;
    if constexpr (!kIsFloat)
      if (p.storesVectors) {
        for (int i = lane; i < 16 * Width / 8; i += 32) {
          const int row = i / (Width / 8), column = i % (Width / 8) * 8;
          if (first + row >= last || column >= width)
            continue;
          SHARED const float *from = stage + row * kStageStride + column;
          const Vector value = {Factor::pair(from[0], from[1]), Factor::pair(from[2], from[3]),
                                Factor::pair(from[4], from[5]), Factor::pair(from[6], from[7])};
          const long at = start + (first + row) * rows.row + column;
          *reinterpret_cast<Vector *>(rows.data + at * sizeof(Element)) = value;
        }
        __nvvm_bar_warp_sync(-1);
        return;
      }
    for (int i = lane; i < 16 * Width; i += 32) {
      const int row = i / Width, column = i % Width;
      if (first + row < last && column < width)
        storeAs(rows.stored, rows.data, start + (first + row) * rows.row + column,
                stage[row * kStageStride + column]);
    }
    __nvvm_bar_warp_sync(-1);
  }

  /// The block's first query. Sets batch and heads.
  int beginQueries() {
    const int tiles = (p.queries + kOwn - 1) / kOwn;
    head = blockNumber() / tiles % p.heads;
    batch = blockNumber() / tiles / p.heads;
    group = head / p.served;
    return blockNumber() % tiles * kOwn;
  }

  /// Calls body(stage, key) for each tile of keys that queries from `first` on see.
  template <typename Body>
  void visitKeys(int first, Body body) const {
    int key = beginOfKeys(first), end = endOfKeys(first + kOwn);
    skipSegments(p.querySegments, first, p.queries, p.keySegments, key, end);
    Source k = sourceOf(p.k, group, key, p.keys, p.width);
    Source v = sourceOf(p.v, group, key, p.keys, p.valueWidth);
    visit(
        key < end ? (end - key + kVisited - 1) / kVisited : 0,
        [&](int stage) {
          fill<kVisited>(visited(stage, 0), k);
          fill<kVisited>(visited(stage, 1), v);
        },
        [&](int stage) {
          addMasks<false>(first, key);
          body(stage, key);
          key += kVisited;
        });
  }

  //===--- Forward ---===//

  /// What is known of the two rows of a thread, after some tiles.
  struct Rows {
    float top[2] = {-kInfinity, -kInfinity}, sum[2] = {0, 0}; ///< the sum: of this thread's columns
    Sums<Width> result;
  };

  /// Products become weights. `Plain`: as isPlain() says.
  template <bool Plain>
  void weigh(Sums<kVisited> &scores, Rows &rows, int query, int key) const {
    float most[2] = {-kInfinity, -kInfinity}, shift[2];
    UNROLLED for (int n = 0; n < kVisited / 8; ++n) UNROLLED for (int i = 0; i < 4; ++i) {
      float &each = scores.at[n][i];
      if (!Plain)
        each = score(each, query + i / 2 * 8, key + n * 8 + laneNumber() % 4 * 2 + i % 2, n, i);
      most[i / 2] = larger(most[i / 2], each);
    }
    UNROLLED for (int half = 0; half < 2; ++half) {
      const float found = largestOfRow(most[half]);
      const float top = larger(rows.top[half], Plain ? found * p.scale : found);
      shift[half] = top == -kInfinity ? 0 : top;
      const float shrink = Factor::exponentialOf(rows.top[half] - shift[half]);
      rows.top[half] = top;
      rows.sum[half] *= shrink;
      UNROLLED for (auto &each : rows.result.at) each[2 * half] *= shrink,
          each[2 * half + 1] *= shrink;
    }
    UNROLLED for (auto &each : scores.at) UNROLLED for (int i = 0; i < 4; ++i) {
      each[i] = Plain ? Factor::exponentialOf(each[i], p.scale, shift[i / 2])
                      : Factor::exponentialOf(each[i] - shift[i / 2]);
      rows.sum[i / 2] += each[i];
    }
  }

  void forward() {
    const int first = beginQueries();
    fillOwn(0, p.q, head, first, p.queries, p.width);
    awaitCopies();
    __syncthreads();
    const Own<true> q(own(0));
    Rows rows;
    rows.result.clear();
    const int mine = first + warpNumber() * 16 + laneNumber() / 4;
    visitKeys(first, [&](int stage, int key) {
      Sums<kVisited> scores;
      By::multiplyRows(q, visited(stage, 0), scores);
      if (isPlain(first, kOwn, key, kVisited))
        weigh<true>(scores, rows, mine, key);
      else
        weigh<false>(scores, rows, mine, key);
      By::multiplyColumns(scores, visited(stage, 1), weights, rows.result);
    });
    finish(first, mine, rows);
  }

  /// Divides and stores O, and stores LSE. A sum of zero: every score is minus infinity.
  void finish(int first, int mine, const Rows &rows) const {
    const float nothing = p.guard || p.keys == 0 ? 0 : __builtin_nanf("");
    const float logOfNothing = p.guard ? kInfinity : p.keys == 0 ? -kInfinity : __builtin_nanf("");
    float factors[2];
    UNROLLED for (int half = 0; half < 2; ++half) {
      const float sum = sumOfRow(rows.sum[half]);
      const bool none = sum == 0;
      factors[half] = none ? nothing : 1 / sum;
      const int query = mine + half * 8;
      if (laneNumber() % 4 == 0 && query < p.queries)
        p.lse[rowOf(query)] = none ? logOfNothing : rows.top[half] + logarithm(sum);
    }
    store(p.o, head, first + warpNumber() * 16, p.queries, p.valueWidth, factors, rows.result);
  }

  //===--- Backward ---===//

  /// Above this sum, a float stores its logarithm with fewer than 12 bits.
  static constexpr float kLargeSum = 4096;

  /// Row sums of dO times O, and what weights are multiplied by: one, but in rows that a large
  /// number hides entirely LSE is that number, without the logarithm of the number of keys. A warp
  /// has a row.
  void prepare() {
    const long number = long(blockNumber()) * Tiles::kWarps + warpNumber();
    if (number >= long(p.batch) * p.heads * p.queries)
      return;
    const int query = int(number % p.queries);
    head = int(number / p.queries % p.heads);
    batch = int(number / p.queries / p.heads);
    group = head / p.served;
    auto startOf = [&](const GpuRows &rows, int headOfRows, int row) {
      return batch * rows.batch + headOfRows * rows.head + row * rows.row;
    };
    float delta = 0;
    for (int i = laneNumber(); i < p.valueWidth; i += 32)
      delta = __builtin_fmaf(loadAs(p.dO.stored, p.dO.data, startOf(p.dO, head, query) + i),
                             loadAs(p.o.stored, p.o.data, startOf(p.o, head, query) + i), delta);
    const float lse = p.lse[number];
    const bool isHidden = (lse > kLargeSum || lse < -kLargeSum) && lse - lse == 0;
    float share = 0;
    for (int key = laneNumber(); isHidden && key < p.keys; key += 32) {
      float product = 0;
      for (int i = 0; i < p.width; ++i)
        product =
            __builtin_fmaf(loadAs(p.q.stored, p.q.data, startOf(p.q, head, query) + i),
                           loadAs(p.k.stored, p.k.data, startOf(p.k, group, key) + i), product);
      share += exponential(product * p.scale + added(query, key) - lse);
    }
    for (int bit = 16; bit > 0; bit /= 2) {
      delta += fromLane(delta, bit);
      share += fromLane(share, bit);
    }
    if (laneNumber() == 0) {
      p.delta[number] = delta;
      p.share[number] = isHidden ? 1 / share : 1;
    }
  }

  /// Of a query, from forward and from prepare(). The share: a factor of its weights.
  struct Saved {
    float lse, delta, share;
  };
  /// An element of products of queries and keys.
  struct Pair {
    int query, key;
    Saved saved;
  };

  /// Products become weights, and gradients of weights those of scores. elementOf(n, i): whose
  /// they are. `Plain`: as isPlain() says.
  template <bool Plain, typename Of>
  void differentiate(Sums<kVisited> &products, Sums<kVisited> &gradients, Of elementOf) const {
    UNROLLED for (int n = 0; n < kVisited / 8; ++n) UNROLLED for (int i = 0; i < 4; ++i) {
      const Pair of = elementOf(n, i);
      const float product = products.at[n][i];
      float weight;
      if (Plain)
        weight = Factor::exponentialOf(product, p.scale, of.saved.lse);
      else if (isThere(of.query, of.key))
        weight = Factor::exponentialOf(score(product, of.query, of.key, n, i) - of.saved.lse);
      else
        weight = 0;
      weight *= of.saved.share;
      products.at[n][i] = weight;
      gradients.at[n][i] = weight * (gradients.at[n][i] - of.saved.delta);
    }
  }

  /// Whether there are registers for own rows beside the sums of backward.
  static constexpr bool kKeeps = Width <= 64;

  void gradientOfQueries() {
    const int first = beginQueries();
    fillOwn(0, p.q, head, first, p.queries, p.width);
    fillOwn(1, p.dO, head, first, p.queries, p.valueWidth);
    awaitCopies();
    __syncthreads();
    const Own<kKeeps> q(own(0)), dO(own(1));
    Sums<Width> dQ;
    dQ.clear();
    const int mine = first + warpNumber() * 16 + laneNumber() / 4;
    Saved saved[2];
    float factors[2];
    UNROLLED for (int half = 0; half < 2; ++half) {
      const bool there = mine + half * 8 < p.queries;
      const long row = there ? rowOf(mine + half * 8) : 0;
      saved[half] = {there ? p.lse[row] : 0, there ? p.delta[row] : 0, 1};
      factors[half] = there ? p.scale * p.share[row] : 0;
    }
    visitKeys(first, [&](int stage, int key) {
      Sums<kVisited> weight, gradient;
      By::multiplyRows(q, visited(stage, 0), weight);
      By::multiplyRows(dO, visited(stage, 1), gradient);
      auto elementOf = [&](int n, int i) {
        return Pair{mine + i / 2 * 8, key + n * 8 + laneNumber() % 4 * 2 + i % 2, saved[i / 2]};
      };
      if (isPlain(first, kOwn, key, kVisited))
        differentiate<true>(weight, gradient, elementOf);
      else
        differentiate<false>(weight, gradient, elementOf);
      By::multiplyColumns(gradient, visited(stage, 0), weights, dQ);
    });
    store(p.dQ, head, first + warpNumber() * 16, p.queries, p.width, factors, dQ);
  }

  /// The first query that sees a key from `key` on, or one shortly before it in a tile.
  int beginOfQueries(int key) const {
    const int begin = p.skips && p.causal && key >= p.prefix ? key - p.causalOffset : 0;
    return begin > 0 ? begin / kVisited * kVisited : 0;
  }
  /// Behind the last query that sees a key before `key`.
  int endOfQueries(int key) const {
    const int end = p.skips && p.window ? key - 1 + p.window - p.causalOffset : p.queries;
    return end < p.queries ? end : p.queries;
  }

  /// Calls body(stage, query) for each tile of queries that see keys from `first` on, of all heads
  /// that share these keys.
  template <typename Body>
  void visitQueries(int first, Body body) {
    int begin = beginOfQueries(first), end = endOfQueries(first + kOwn);
    skipSegments(p.keySegments, first, p.keys, p.querySegments, begin, end);
    const int tiles = begin < end ? (end - begin + kVisited - 1) / kVisited : 0;
    auto queriesOf = [&](int of) { return sourceOf(p.q, of, begin, p.queries, p.width); };
    auto gradientsOf = [&](int of) { return sourceOf(p.dO, of, begin, p.queries, p.valueWidth); };
    int next = group * p.served, query = begin;
    Source q = queriesOf(next), dO = gradientsOf(next);
    auto copy = [&](int stage) {
      if (q.row >= end) {
        ++next;
        q = queriesOf(next), dO = gradientsOf(next);
      }
      fillSaved(savedOf(stage), next, q.row);
      fill<kVisited>(visited(stage, 0), q);
      fill<kVisited>(visited(stage, 1), dO);
    };
    head = next;
    visit(tiles * p.served, copy, [&](int stage) {
      if (query >= end)
        ++head, query = begin;
      addMasks<true>(first, query);
      body(stage, query);
      query += kVisited;
    });
  }

  /// The rows of a warp are keys here, and the columns of its products queries.
  void gradientOfKeys() {
    const int tiles = (p.keys + kOwn - 1) / kOwn, groups = p.heads / p.served;
    const int first = blockNumber() % tiles * kOwn;
    group = blockNumber() / tiles % groups;
    batch = blockNumber() / tiles / groups;
    fillOwn(0, p.k, group, first, p.keys, p.width);
    fillOwn(1, p.v, group, first, p.keys, p.valueWidth);
    awaitCopies();
    __syncthreads();
    const Own<kKeeps> k(own(0)), v(own(1));
    Sums<Width> dK, dV;
    dK.clear();
    dV.clear();
    const int mine = first + warpNumber() * 16 + laneNumber() / 4;
    visitQueries(first, [&](int stage, int query) {
      Sums<kVisited> weight, gradient;
      By::multiplyRows(k, visited(stage, 0), weight);
      By::multiplyRows(v, visited(stage, 1), gradient);
      SHARED const float *saved = savedOf(stage);
      auto elementOf = [&](int n, int i) {
        const int column = n * 8 + laneNumber() % 4 * 2 + i % 2;
        return Pair{query + column, mine + i / 2 * 8,
                    Saved{saved[column], saved[kVisited + column], saved[2 * kVisited + column]}};
      };
      if (isPlain(query, kVisited, first, kOwn))
        differentiate<true>(weight, gradient, elementOf);
      else
        differentiate<false>(weight, gradient, elementOf);
      By::multiplyColumns(weight, visited(stage, 1), weights, dV);
      By::multiplyColumns(gradient, visited(stage, 0), weights, dK);
    });
    const float one[2] = {1, 1}, factors[2] = {p.scale, p.scale};
    store(p.dK, group, first + warpNumber() * 16, p.keys, p.width, factors, dK);
    store(p.dV, group, first + warpNumber() * 16, p.keys, p.valueWidth, one, dV);
  }
};

#pragma clang attribute pop

} // namespace

//===----------------------------------------------------------------------===//
// Entries, of one type of factors and one padded width
//===----------------------------------------------------------------------===//

/// Its size is that of the launch. Copies of 16 bytes go there.
extern "C" SHARED char attentionMemory[] __attribute__((aligned(16)));

#define ENTRY(name, call, tensors)                                                                 \
  extern "C" __attribute__((nvptx_kernel)) void attention_##name(AttentionParameters parameters) { \
    Kernel<ZERO_ATTENTION_FACTOR, ZERO_ATTENTION_WIDTH>(parameters, attentionMemory, tensors)      \
        .call();                                                                                   \
  }
ENTRY(forward, forward, 1)
ENTRY(prepare, prepare, 0)
ENTRY(queries, gradientOfQueries, 2)
ENTRY(keys, gradientOfKeys, 2)

} // namespace zero::rt::cuda
