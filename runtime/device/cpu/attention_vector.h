//===- attention_vector.h - vectors, exp and products of tiles --*- C++ -*-===//
//
// Compiled once for each kind of CPU, in a separate namespace that ATTENTION_ISA names. Only
// attention_code.cpp includes it.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CPU_ATTENTION_VECTOR_H
#define RUNTIME_DEVICE_CPU_ATTENTION_VECTOR_H

#include <cstdint>
#if defined(ATTENTION_HALVES)
#include <immintrin.h>
#endif

namespace zero::rt::ATTENTION_ISA {

// Rows and vectors of a product's block are as many as registers hold its sums.
#if defined(__AVX512F__)
inline constexpr int kLanes = 16, kStrip = 8;
#elif defined(__AVX2__)
inline constexpr int kLanes = 8, kStrip = 4;
#else
inline constexpr int kLanes = 4, kStrip = 4;
#endif
// Backward takes the keys of a strip from scores that are computed in whole vectors.
static_assert(kStrip <= kLanes);
inline constexpr int kPanelVectors = 2;
inline constexpr int kPanel = kPanelVectors * kLanes;

using Floats = float __attribute__((ext_vector_type(kLanes)));
using Words = uint32_t __attribute__((ext_vector_type(kLanes)));
using Ints = int32_t __attribute__((ext_vector_type(kLanes)));
using Bytes = uint8_t __attribute__((ext_vector_type(kLanes)));

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t larger(int64_t a, int64_t b) { return a < b ? b : a; }

/// Creates a vector from the number of each lane.
template <typename T, T... lane>
struct Lanes {
  static Ints numbers() { return Ints{lane...}; }
  /// The lower halves of `a` and `b`, interleaved.
  static Floats zipLow(Floats a, Floats b) {
    return __builtin_shufflevector(a, b, (lane / 2 + lane % 2 * kLanes)...);
  }
  static Floats zipHigh(Floats a, Floats b) {
    return __builtin_shufflevector(a, b, (kLanes / 2 + lane / 2 + lane % 2 * kLanes)...);
  }
};
using AllLanes = __make_integer_seq<Lanes, int, kLanes>;

inline Floats load(const float *from) {
  Floats value;
  __builtin_memcpy(&value, from, sizeof(value));
  return value;
}

inline void store(float *to, Floats value) { __builtin_memcpy(to, &value, sizeof(value)); }

/// a b + c, rounded once where the CPU can.
inline Floats multiplyAdd(Floats a, Floats b, Floats c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_elementwise_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// exp(x) to two units in the last place: 0 below the smallest normal number, and a large number
/// above 88. NaN remains NaN. After Cephes' expf: x = n log 2 + r.
inline Floats exponential(Floats x) {
  constexpr float kLowest = -87.33654f, kHighest = 88.0f;
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  // Adding it rounds to an integer, and puts n + 127, an exponent, into the lowest bits.
  constexpr float kRound = 12582912.0f + 127.0f;
  Floats in = x < kLowest ? Floats(kLowest) : x;
  in = in > kHighest ? Floats(kHighest) : in;
  const Floats shifted = multiplyAdd(in, kLog2E, kRound);
  const Floats n = shifted - kRound;
  Floats r = multiplyAdd(n, -kLn2High, in);
  r = multiplyAdd(n, -kLn2Low, r);
  Floats p = 1.9875691500e-4f;
  p = multiplyAdd(p, r, 1.3981999507e-3f);
  p = multiplyAdd(p, r, 8.3334519073e-3f);
  p = multiplyAdd(p, r, 4.1665795894e-2f);
  p = multiplyAdd(p, r, 1.6666665459e-1f);
  p = multiplyAdd(p, r, 5.0000001201e-1f);
  p = multiplyAdd(p, r * r, r + 1.0f);
  const Floats power = __builtin_bit_cast(Floats, __builtin_bit_cast(Words, shifted) << 23);
  return x < kLowest ? Floats(0.0f) : p * power;
}

inline float exponential(float x) { return exponential(Floats(x))[0]; }

/// The larger one; `a` if `b` is NaN.
inline Floats larger(Floats a, Floats b) { return a < b ? b : a; }

/// Reduces all lanes by halves.
template <typename Vector>
inline float sumOf(Vector value) {
  if constexpr (sizeof(Vector) == 2 * sizeof(float))
    return value[0] + value[1];
  else
    return sumOf(value.lo + value.hi);
}

template <typename Vector>
inline float largestOf(Vector value) {
  if constexpr (sizeof(Vector) == 2 * sizeof(float))
    return value[0] < value[1] ? value[1] : value[0];
  else
    return largestOf(value.lo < value.hi ? value.hi : value.lo);
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

// The factors of products are words of 32 bits: a float, or two bf16 that follow each other along
// the dimension that is summed. They are moved as if they were floats.
#if defined(ATTENTION_HALVES)
inline constexpr int kPair = 2; ///< elements of a word
#else
inline constexpr int kPair = 1;
#endif

/// Words that hold `count` elements.
inline constexpr int64_t wordsOf(int64_t count) { return (count + kPair - 1) / kPair; }

/// Adds the products of the elements of `left` and `right` to `sum`.
inline Floats addProducts(Floats left, Floats right, Floats sum) {
#if defined(ATTENTION_HALVES)
  return _mm512_dpbf16_ps(sum, __builtin_bit_cast(__m512bh, left),
                          __builtin_bit_cast(__m512bh, right));
#else
  return multiplyAdd(left, right, sum);
#endif
}

#if defined(ATTENTION_HALVES)
using Halves = __bf16 __attribute__((ext_vector_type(kLanes)));
using Shorts = uint16_t __attribute__((ext_vector_type(kLanes)));

/// Rounds to nearest even.
inline Shorts toHalves(Floats value) {
  return __builtin_bit_cast(Shorts, __builtin_convertvector(value, Halves));
}

/// Rounds `count` floats, a multiple of kLanes, to half as many words. `to` may be `from`.
inline void packRow(const float *from, int64_t count, float *to) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const Shorts halves = toHalves(load(from + i));
    __builtin_memcpy(to + i / 2, &halves, sizeof(halves));
  }
}

/// Words whose elements are those of `low` and `high`, lane by lane.
inline Floats pairOf(Floats low, Floats high) {
  const Words words = __builtin_convertvector(toHalves(low), Words) |
                      __builtin_convertvector(toHalves(high), Words) << 16;
  return __builtin_bit_cast(Floats, words);
}

/// Rearranges `count` rows, an even number, of `words` words along rows, a multiple of kLanes:
/// two rows become one of twice the length, whose words pair their elements.
inline void pairRows(const float *from, int64_t count, int64_t words, float *to) {
  for (int64_t row = 0; row < count; row += 2, to += 2 * words)
    for (int64_t word = 0; word < words; word += kLanes) {
      const Words low = __builtin_bit_cast(Words, load(from + row * words + word));
      const Words high = __builtin_bit_cast(Words, load(from + (row + 1) * words + word));
      // Of each word, the first elements and the second elements of both rows.
      const auto first = __builtin_bit_cast(Floats, (low & 0xffff) | high << 16);
      const auto second = __builtin_bit_cast(Floats, low >> 16 | (high & 0xffff0000));
      store(to + 2 * word, __builtin_shufflevector(first, second, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20,
                                                   5, 21, 6, 22, 7, 23));
      store(to + 2 * word + kLanes, __builtin_shufflevector(first, second, 8, 24, 9, 25, 10, 26, 11,
                                                            27, 12, 28, 13, 29, 14, 30, 15, 31));
    }
}
#endif

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// One block of a product, C (+)= A B: kStrip rows and `vectors` vectors of columns. A is stored by
/// rows, or, if `transposed`, by columns; `lda`, `ldb` and `ldc` are the distances of rows in
/// memory. `depth` counts words.
template <bool transposed, int vectors>
inline void multiplyBlock(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t depth,
                          float *c, int64_t ldc, bool accumulate) {
  Floats sums[kStrip][vectors];
#pragma clang loop unroll(full)
  for (int i = 0; i < kStrip; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < vectors; ++j)
      sums[i][j] = accumulate ? load(c + i * ldc + j * kLanes) : Floats(0.0f);
  for (int64_t k = 0; k < depth; ++k) {
    Floats right[vectors];
#pragma clang loop unroll(full)
    for (int j = 0; j < vectors; ++j)
      right[j] = load(b + k * ldb + j * kLanes);
#pragma clang loop unroll(full)
    for (int i = 0; i < kStrip; ++i) {
      const Floats left = transposed ? a[k * lda + i] : a[i * lda + k];
#pragma clang loop unroll(full)
      for (int j = 0; j < vectors; ++j)
        sums[i][j] = addProducts(left, right[j], sums[i][j]);
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < kStrip; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < vectors; ++j)
      store(c + i * ldc + j * kLanes, sums[i][j]);
}

/// kStrip rows of C (+)= A B, `columns` of them, a multiple of kWidthUnit.
template <bool transposed>
inline void multiplyStrip(const float *a, int64_t lda, const float *b, int64_t ldb, int64_t depth,
                          float *c, int64_t ldc, int64_t columns, bool accumulate) {
  int64_t column = 0;
  for (; column + kPanel <= columns; column += kPanel)
    multiplyBlock<transposed, kPanelVectors>(a, lda, b + column, ldb, depth, c + column, ldc,
                                             accumulate);
  if (column < columns)
    multiplyBlock<transposed, 1>(a, lda, b + column, ldb, depth, c + column, ldc, accumulate);
}

//===----------------------------------------------------------------------===//
// Transposition
//===----------------------------------------------------------------------===//

/// Column i of `rows` becomes row i.
inline void transpose(Floats (&rows)[kLanes]) {
#pragma clang loop unroll(full)
  for (int round = 1; round < kLanes; round *= 2) {
    Floats next[kLanes];
#pragma clang loop unroll(full)
    for (int i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = AllLanes::zipLow(rows[i], rows[i + kLanes / 2]);
      next[2 * i + 1] = AllLanes::zipHigh(rows[i], rows[i + kLanes / 2]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < kLanes; ++i)
      rows[i] = next[i];
  }
}

/// Writes kPanel rows of `width` words as `width` rows of kPanel. Rows are readable up
/// to a multiple of kWidthUnit.
inline void transposePanel(const float *from, int64_t stride, int64_t width, float *to) {
  for (int64_t column = 0; column < width; column += kLanes)
    for (int group = 0; group < kPanel; group += kLanes) {
      Floats rows[kLanes];
#pragma clang loop unroll(full)
      for (int i = 0; i < kLanes; ++i)
        rows[i] = load(from + (group + i) * stride + column);
      transpose(rows);
      for (int i = 0; i < kLanes && column + i < width; ++i)
        store(to + (column + i) * kPanel + group, rows[i]);
    }
}

} // namespace zero::rt::ATTENTION_ISA

#endif // RUNTIME_DEVICE_CPU_ATTENTION_VECTOR_H
