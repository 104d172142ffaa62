//===- attention.cpp - attention by tiles on a GPU ------------------------===//
//
// Compiled to PTX when the runtime is built, without the CUDA toolkit, once for each type of
// factors and padded width: ZERO_ATTENTION_FACTOR and ZERO_ATTENTION_WIDTH. The algorithm is that
// of FlashAttention-2 (Dao, 2023, sections 3.1 and 3.2): forward keeps a running maximum and sum of
// each row; backward recomputes the weights from the saved logarithms of the sums. Nothing is added
// atomically: one kernel sums the gradients of keys and values over queries, another those of
// queries over keys, each in a fixed order, so the weights are computed twice.
//
// A warp has 16 rows of its block's tile. Products accumulate in float32 in the layout of
// mma.sync.m16n8k16: a thread has, in each 8 columns, two neighbouring ones of rows t/4 and t/4
// + 8. Factors of 16 bits are multiplied by tensor cores, float32 by fused multiply-adds.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/kernels/attention_parameters.h"

namespace zero::rt::cuda {
namespace {

#define SHARED __attribute__((address_space(3)))
/// Loops over what a thread has in registers are unrolled: memory has indices, registers do not.
#define UNROLLED _Pragma("unroll")

using Word = unsigned;
using Short = unsigned short;
using Vector = Word __attribute__((ext_vector_type(4)));

constexpr float kInfinity = __builtin_inff();

// A function that is called would need its arguments in memory.
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

float fromHalf(Short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
float fromBFloat(Short bits) { return __builtin_bit_cast(float, static_cast<Word>(bits) << 16); }
Short toHalf(float value) {
  Short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
Short toBFloat(float value) {
  Short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

float loadAs(StoredAs stored, const char *data, long index) {
  switch (stored) {
  case StoredAs::Float32:
    return reinterpret_cast<const float *>(data)[index];
  case StoredAs::Float16:
    return fromHalf(reinterpret_cast<const Short *>(data)[index]);
  default:
    return fromBFloat(reinterpret_cast<const Short *>(data)[index]);
  }
}
void storeAs(StoredAs stored, char *data, long index, float value) {
  switch (stored) {
  case StoredAs::Float32:
    reinterpret_cast<float *>(data)[index] = value;
    break;
  case StoredAs::Float16:
    reinterpret_cast<Short *>(data)[index] = toHalf(value);
    break;
  default:
    reinterpret_cast<Short *>(data)[index] = toBFloat(value);
    break;
  }
}

float larger(float a, float b) { return a > b || a != a ? a : b; }

/// e to the power of x, within 2 units in the last place.
float exponential(float x) {
  if (x != x)
    return x;
  x = x < -104 ? -104 : x > 89 ? 89 : x;
  const float n = __builtin_rintf(x * 1.44269504f);
  float r = __builtin_fmaf(n, -0.693145751953125f, x);
  r = __builtin_fmaf(n, -1.42860677e-6f, r);
  constexpr float kFactors[] = {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                                1.6666665459e-1f, 5.0000001201e-1f};
  float p = 1.9875691500e-4f;
  for (float factor : kFactors)
    p = __builtin_fmaf(p, r, factor);
  p = __builtin_fmaf(p * r, r, r) + 1;
  // in two steps: the result may be subnormal, or infinite
  const int power = static_cast<int>(n), half = power / 2;
  auto two = [](int k) { return __builtin_bit_cast(float, static_cast<Word>(k + 127) << 23); };
  return p * two(half) * two(power - half);
}

/// The natural logarithm of a positive normal number.
float logarithm(float x) {
  const int bits = __builtin_bit_cast(int, x);
  const int power = ((bits - 0x3f3504f3) >> 23);
  const float m = __builtin_bit_cast(float, bits - (power << 23)); // in [sqrt(1/2), sqrt(2))
  const float f = m - 1, s = f / (2 + f), z = s * s;
  constexpr float kFactors[] = {2.0f / 7, 2.0f / 5, 2.0f / 3};
  float p = 2.0f / 9;
  for (float factor : kFactors)
    p = __builtin_fmaf(p, z, factor);
  const float log = __builtin_fmaf(s * z, p, 2 * s);
  return __builtin_fmaf(static_cast<float>(power), 0.693145751953125f,
                        __builtin_fmaf(static_cast<float>(power), 1.42860677e-6f, log));
}

int threadNumber() { return __nvvm_read_ptx_sreg_tid_x(); }
int laneNumber() { return threadNumber() % 32; }
int warpNumber() { return threadNumber() / 32; }
int blockNumber() { return __nvvm_read_ptx_sreg_ctaid_x(); }

float fromLane(float value, int mask) {
  return __builtin_bit_cast(
      float, __nvvm_shfl_sync_bfly_i32(-1, __builtin_bit_cast(int, value), mask, 31));
}
/// Over the four threads that share a row.
float sumOfRow(float value) {
  value += fromLane(value, 1);
  return value + fromLane(value, 2);
}
float largestOfRow(float value) {
  value = larger(value, fromLane(value, 1));
  return larger(value, fromLane(value, 2));
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

struct Float {
  using Element = float;
  static constexpr bool kIsFloat = true;
  static float take(const GpuRows &rows, long index) {
    return loadAs(rows.stored, rows.data, index);
  }
};
/// Factors of 16 bits, as they are stored.
struct Stored {
  using Element = Short;
  static constexpr bool kIsFloat = false;
  static Short take(const GpuRows &rows, long index) {
    return reinterpret_cast<const Short *>(rows.data)[index];
  }
};
struct Half : Stored {
  static Word pair(float low, float high) {
    return toHalf(low) | static_cast<Word>(toHalf(high)) << 16;
  }
  static void multiply(float (&sum)[4], const Word (&a)[4], Word b0, Word b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};
struct BFloat : Stored {
  static Word pair(float low, float high) {
    return toBFloat(low) | static_cast<Word>(toBFloat(high)) << 16;
  }
  static void multiply(float (&sum)[4], const Word (&a)[4], Word b0, Word b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};

/// Two neighbouring elements of shared memory.
Word wordAt(SHARED const Short *place) { return *reinterpret_cast<SHARED const Word *>(place); }

/// 16 rows from `rows` on, of 8 elements each, as the second factor of a product along rows: the
/// transposed of what wordAt() would give.
void takeColumns(SHARED const Short *rows, int stride, Word &b0, Word &b1) {
  SHARED const Short *row = rows + laneNumber() % 16 * stride;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(b0), "=r"(b1)
               : "r"(static_cast<Word>(reinterpret_cast<__UINTPTR_TYPE__>(row)))
               : "memory");
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Sums of 16 rows by `Columns` columns.
template <int Columns>
struct Sums {
  float at[Columns / 8][4];

  void clear() { UNROLLED for (auto &each : at) UNROLLED for (float &value : each) value = 0; }
};

template <typename Factor, int Width>
struct Kernel {
  using Element = typename Factor::Element;
  using Tiles = AttentionTiles<Factor::kIsFloat, Width>;
  using Place = SHARED Element *;
  static constexpr int kOwn = Tiles::kOwn, kVisited = Tiles::kVisited, kStride = Tiles::kStride;

  const AttentionParameters &p;
  Place own[2], visited[2];
  SHARED float *masks, *weights; ///< the latter of this warp
  int batch, head, group;

  Kernel(const AttentionParameters &p, SHARED char *memory) : p(p) {
    own[0] = reinterpret_cast<Place>(memory);
    own[1] = own[0] + kOwn * kStride;
    visited[0] = own[1] + kOwn * kStride;
    visited[1] = visited[0] + kVisited * kStride;
    masks = reinterpret_cast<SHARED float *>(visited[1] + kVisited * kStride);
    weights = masks + kOwn * Tiles::kMaskStride + warpNumber() * 16 * Tiles::kWeightStride;
  }

  /// Copies rows [first, first + Count) of a head into shared memory, with zeros behind the last
  /// row and behind `width`.
  template <int Count>
  void fill(Place to, const GpuRows &rows, int headOfRows, int first, int last, int width) {
    const long start = batch * rows.batch + headOfRows * rows.head;
    if (!Factor::kIsFloat && p.vectors) {
      constexpr int kVectors = Width / 8;
      for (int i = threadNumber(); i < Count * kVectors; i += Tiles::kThreads) {
        const int row = i / kVectors, column = i % kVectors * 8;
        Vector value = {0, 0, 0, 0};
        if (first + row < last && column < width)
          value = *reinterpret_cast<const Vector *>(
              rows.data + (start + (first + row) * rows.row + column) * sizeof(Element));
        *reinterpret_cast<SHARED Vector *>(to + row * kStride + column) = value;
      }
      return;
    }
    for (int i = threadNumber(); i < Count * Width; i += Tiles::kThreads) {
      const int row = i / Width, column = i % Width;
      Element value = 0;
      if (first + row < last && column < width)
        value = Factor::take(rows, start + (first + row) * rows.row + column);
      to[row * kStride + column] = value;
    }
  }

  /// sums[row][n] = product of the warp's rows of `left` and rows n of `right`.
  void multiplyRows(Place left, Place right, Sums<kVisited> &sums) const {
    sums.clear();
    const int lane = laneNumber(), row = warpNumber() * 16 + lane / 4;
    if constexpr (Factor::kIsFloat) {
      for (int k = 0; k < Width; ++k)
        UNROLLED for (int n = 0; n < kVisited / 8; ++n) UNROLLED for (int i = 0; i < 4; ++i)
            sums.at[n][i] =
            __builtin_fmaf(left[(row + i / 2 * 8) * kStride + k],
                           right[(n * 8 + lane % 4 * 2 + i % 2) * kStride + k], sums.at[n][i]);
    } else {
      const int column = lane % 4 * 2;
      UNROLLED for (int k = 0; k < Width; k += 16) {
        Place from = left + row * kStride + k + column;
        const Word a[4] = {wordAt(from), wordAt(from + 8 * kStride), wordAt(from + 8),
                           wordAt(from + 8 * kStride + 8)};
        UNROLLED for (int n = 0; n < kVisited / 8; ++n) {
          Place with = right + (n * 8 + lane / 4) * kStride + k + column;
          Factor::multiply(sums.at[n], a, wordAt(with), wordAt(with + 8));
        }
      }
    }
  }

  /// sums += `left`, 16 rows of the warp by kVisited, times the rows of `right`.
  void multiplyColumns(const Sums<kVisited> &left, Place right, Sums<Width> &sums) const {
    const int lane = laneNumber();
    if constexpr (Factor::kIsFloat) {
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
      UNROLLED for (int k = 0; k < kVisited / 16; ++k) {
        const float (&low)[4] = left.at[2 * k], (&high)[4] = left.at[2 * k + 1];
        const Word a[4] = {Factor::pair(low[0], low[1]), Factor::pair(low[2], low[3]),
                           Factor::pair(high[0], high[1]), Factor::pair(high[2], high[3])};
        UNROLLED for (int n = 0; n < Width / 8; ++n) {
          Word b0, b1;
          takeColumns(right + k * 16 * kStride + n * 8, kStride, b0, b1);
          Factor::multiply(sums.at[n], a, b0, b1);
        }
      }
    }
  }

  bool isCausal(int query, int key) const { return !p.causal || key <= query + p.causalOffset; }

  /// The sum of what masks add to a score; what hides adds `fill`, as on the CPU.
  float added(int query, int key) const {
    float value = 0;
    bool shown = isCausal(query, key);
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
    return shown ? value : value + p.fill;
  }

  bool hasMasks() const { return p.padding.data || p.mask.data; }
  bool isThere(int query, int key) const { return query < p.queries && key < p.keys; }

  /// Puts what masks add to the scores of the block's rows from `first` on and of the visited
  /// columns from `visitedFirst` on into shared memory. `ownKeys`: the rows are keys.
  template <bool OwnKeys>
  void addMasks(int first, int visitedFirst) {
    if (!hasMasks())
      return;
    for (int i = threadNumber(); i < kOwn * kVisited; i += Tiles::kThreads) {
      const int row = first + i / kVisited, column = visitedFirst + i % kVisited;
      const int query = OwnKeys ? column : row, key = OwnKeys ? row : column;
      masks[i / kVisited * Tiles::kMaskStride + i % kVisited] =
          isThere(query, key) ? added(query, key) : 0;
    }
  }

  /// A product of a query and a key becomes a score. `n` and `i`: its place in the warp's sums.
  float score(float product, int query, int key, int n, int i) const {
    if (!isThere(query, key))
      return -kInfinity;
    const float value = product * p.scale;
    const int row = warpNumber() * 16 + laneNumber() / 4 + i / 2 * 8;
    if (hasMasks())
      return value + masks[row * Tiles::kMaskStride + n * 8 + laneNumber() % 4 * 2 + i % 2];
    return isCausal(query, key) ? value : value + p.fill;
  }

  /// Behind the last key that a query before `query` sees.
  int endOfKeys(int query) const {
    const int end = query + p.causalOffset;
    return p.skips && end < p.keys ? end : p.keys;
  }

  long rowOf(int query) const { return (long(batch) * p.heads + head) * p.queries + query; }

  /// Stores 16 rows of the warp from `first` on. They pass shared memory, which no longer holds
  /// tiles: threads then store neighbouring elements.
  void store(const GpuRows &rows, int headOfRows, int first, int last, int width,
             const float (&factors)[2], const Sums<Width> &sums) const {
    constexpr int kStageStride = Width + 4;
    static_assert(kOwn * kStageStride * 4 <= Tiles::kBytes);
    const int lane = laneNumber();
    SHARED float *stage =
        reinterpret_cast<SHARED float *>(own[0]) + warpNumber() * 16 * kStageStride;
    __syncthreads(); // the tiles may still be read, or written where none was visited
    UNROLLED for (int n = 0; n < Width / 8; ++n) UNROLLED for (int i = 0; i < 4; ++i)
        stage[(lane / 4 + i / 2 * 8) * kStageStride + n * 8 + lane % 4 * 2 + i % 2] =
            sums.at[n][i] * factors[i / 2];
    __nvvm_bar_warp_sync(-1);
    const long start = batch * rows.batch + headOfRows * rows.head;
    for (int i = lane; i < 16 * Width; i += 32) {
      const int row = i / Width, column = i % Width;
      if (first + row < last && column < width)
        storeAs(rows.stored, rows.data, start + (first + row) * rows.row + column,
                stage[row * kStageStride + column]);
    }
    __nvvm_bar_warp_sync(-1);
  }

  //===--- Forward ---===//

  void forward() {
    const int tiles = (p.queries + kOwn - 1) / kOwn;
    const int first = blockNumber() % tiles * kOwn;
    head = blockNumber() / tiles % p.heads;
    batch = blockNumber() / tiles / p.heads;
    group = head / p.served;
    fill<kOwn>(own[0], p.q, head, first, p.queries, p.width);
    Sums<Width> result;
    result.clear();
    float top[2] = {-kInfinity, -kInfinity}, sum[2] = {0, 0};
    const int mine = first + warpNumber() * 16 + laneNumber() / 4;
    const int end = endOfKeys(first + kOwn);
    for (int key = 0; key < end; key += kVisited) {
      fill<kVisited>(visited[0], p.k, group, key, p.keys, p.width);
      fill<kVisited>(visited[1], p.v, group, key, p.keys, p.valueWidth);
      addMasks<false>(first, key);
      __syncthreads();
      Sums<kVisited> scores;
      multiplyRows(own[0], visited[0], scores);
      float most[2] = {top[0], top[1]};
      UNROLLED for (int n = 0; n < kVisited / 8; ++n) UNROLLED for (int i = 0; i < 4; ++i) {
        float &each = scores.at[n][i];
        each = score(each, mine + i / 2 * 8, key + n * 8 + laneNumber() % 4 * 2 + i % 2, n, i);
        most[i / 2] = larger(most[i / 2], each);
      }
      float shift[2], total[2] = {0, 0};
      UNROLLED for (int half = 0; half < 2; ++half) {
        most[half] = largestOfRow(most[half]);
        shift[half] = most[half] == -kInfinity ? 0 : most[half];
        const float shrink = exponential(top[half] - shift[half]);
        top[half] = most[half];
        sum[half] *= shrink;
        UNROLLED for (auto &each : result.at) each[2 * half] *= shrink,
            each[2 * half + 1] *= shrink;
      }
      UNROLLED for (auto &each : scores.at) UNROLLED for (int i = 0; i < 4; ++i) {
        each[i] = exponential(each[i] - shift[i / 2]);
        total[i / 2] += each[i];
      }
      UNROLLED for (int half = 0; half < 2; ++half) sum[half] += sumOfRow(total[half]);
      multiplyColumns(scores, visited[1], result);
      __syncthreads();
    }
    finish(first, mine, top, sum, result);
  }

  /// Divides and stores O, and stores LSE. A sum of zero: every score is minus infinity.
  void finish(int first, int mine, const float (&top)[2], const float (&sum)[2],
              const Sums<Width> &result) const {
    const float nothing = p.guard || p.keys == 0 ? 0 : __builtin_nanf("");
    const float logOfNothing = p.guard ? kInfinity : p.keys == 0 ? -kInfinity : __builtin_nanf("");
    float factors[2];
    UNROLLED for (int half = 0; half < 2; ++half) {
      const bool none = sum[half] == 0;
      factors[half] = none ? nothing : 1 / sum[half];
      const int query = mine + half * 8;
      if (laneNumber() % 4 == 0 && query < p.queries)
        p.lse[rowOf(query)] = none ? logOfNothing : top[half] + logarithm(sum[half]);
    }
    store(p.o, head, first + warpNumber() * 16, p.queries, p.valueWidth, factors, result);
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

  /// Products become weights, and gradients of weights those of scores. numbers(n, i): the query
  /// and the key of an element.
  template <typename Of>
  void differentiate(Sums<kVisited> &products, Sums<kVisited> &gradients, Of numbers) const {
    UNROLLED for (int n = 0; n < kVisited / 8; ++n) UNROLLED for (int i = 0; i < 4; ++i) {
      const auto [query, key] = numbers(n, i);
      const bool there = isThere(query, key);
      const long row = rowOf(there ? query : 0);
      const float exponent = score(products.at[n][i], query, key, n, i) - p.lse[row];
      const float weight = there ? exponential(exponent) * p.share[row] : 0;
      products.at[n][i] = weight;
      gradients.at[n][i] = there ? weight * (gradients.at[n][i] - p.delta[row]) : 0;
    }
  }

  struct Numbers {
    int query, key;
  };

  void gradientOfQueries() {
    const int tiles = (p.queries + kOwn - 1) / kOwn;
    const int first = blockNumber() % tiles * kOwn;
    head = blockNumber() / tiles % p.heads;
    batch = blockNumber() / tiles / p.heads;
    group = head / p.served;
    fill<kOwn>(own[0], p.q, head, first, p.queries, p.width);
    fill<kOwn>(own[1], p.dO, head, first, p.queries, p.valueWidth);
    Sums<Width> dQ;
    dQ.clear();
    const int mine = first + warpNumber() * 16 + laneNumber() / 4;
    const int end = endOfKeys(first + kOwn);
    for (int key = 0; key < end; key += kVisited) {
      fill<kVisited>(visited[0], p.k, group, key, p.keys, p.width);
      fill<kVisited>(visited[1], p.v, group, key, p.keys, p.valueWidth);
      addMasks<false>(first, key);
      __syncthreads();
      Sums<kVisited> weight, gradient;
      multiplyRows(own[0], visited[0], weight);
      multiplyRows(own[1], visited[1], gradient);
      differentiate(weight, gradient, [&](int n, int i) {
        return Numbers{mine + i / 2 * 8, key + n * 8 + laneNumber() % 4 * 2 + i % 2};
      });
      multiplyColumns(gradient, visited[0], dQ);
      __syncthreads();
    }
    const float factors[2] = {p.scale, p.scale};
    store(p.dQ, head, first + warpNumber() * 16, p.queries, p.width, factors, dQ);
  }

  /// The rows of a warp are keys here, and the columns of its products queries.
  void gradientOfKeys() {
    const int tiles = (p.keys + kOwn - 1) / kOwn, groups = p.heads / p.served;
    const int first = blockNumber() % tiles * kOwn;
    group = blockNumber() / tiles % groups;
    batch = blockNumber() / tiles / groups;
    fill<kOwn>(own[0], p.k, group, first, p.keys, p.width);
    fill<kOwn>(own[1], p.v, group, first, p.keys, p.valueWidth);
    Sums<Width> dK, dV;
    dK.clear();
    dV.clear();
    const int mine = first + warpNumber() * 16 + laneNumber() / 4;
    // the first query that sees one of these keys
    const int seen = p.skips ? first - p.causalOffset : 0;
    const int begin = seen > 0 ? seen / kVisited * kVisited : 0;
    for (head = group * p.served; head < (group + 1) * p.served; ++head)
      for (int query = begin; query < p.queries; query += kVisited) {
        fill<kVisited>(visited[0], p.q, head, query, p.queries, p.width);
        fill<kVisited>(visited[1], p.dO, head, query, p.queries, p.valueWidth);
        addMasks<true>(first, query);
        __syncthreads();
        Sums<kVisited> weight, gradient;
        multiplyRows(own[0], visited[0], weight);
        multiplyRows(own[1], visited[1], gradient);
        differentiate(weight, gradient, [&](int n, int i) {
          return Numbers{query + n * 8 + laneNumber() % 4 * 2 + i % 2, mine + i / 2 * 8};
        });
        multiplyColumns(weight, visited[1], dV);
        multiplyColumns(gradient, visited[0], dK);
        __syncthreads();
      }
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

extern "C" SHARED char attentionMemory[];

#define ENTRY(name, call)                                                                          \
  extern "C" __attribute__((nvptx_kernel)) void attention_##name(AttentionParameters parameters) { \
    Kernel<ZERO_ATTENTION_FACTOR, ZERO_ATTENTION_WIDTH>(parameters, attentionMemory).call();       \
  }
ENTRY(forward, forward)
ENTRY(prepare, prepare)
ENTRY(queries, gradientOfQueries)
ENTRY(keys, gradientOfKeys)

} // namespace zero::rt::cuda
