//===- loops.cpp - loops like those of the compiler -----------------------===//

#include "runtime/measure/loops.h"

#include "runtime/support/vector_targets.h"

#include <algorithm>
#include <cmath>

namespace zero::rt {

namespace {
enum class Level { Plain, Avx2, Avx512 };
} // namespace

static Level levelOfThisMachine() {
  if (ZERO_RT_HAS("avx512f") && ZERO_RT_HAS("fma"))
    return Level::Avx512;
  const bool avx2 = ZERO_RT_HAS("avx2") && ZERO_RT_HAS("fma");
  return avx2 ? Level::Avx2 : Level::Plain;
}

/// Eigen's rational approximation, which MLIR's expansion of math.tanh uses too.
[[gnu::always_inline]] static inline float tanhOf(float x) {
  x = std::max(-7.90531110763549805f, std::min(x, 7.90531110763549805f));
  const float s = x * x;
  float p = -2.76076847742355e-16f;
  for (float factor : {2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
                       1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f})
    p = p * s + factor;
  float q = 1.19825839466702e-06f;
  for (float factor : {1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f})
    q = q * s + factor;
  return x * p / q;
}

[[gnu::always_inline]] static inline void runGelu(float *result, const float *operand,
                                                  size_t count) {
#pragma clang loop vectorize(assume_safety)
  for (size_t i = 0; i < count; ++i) {
    const float x = operand[i];
    result[i] = 0.5f * x * (1.0f + tanhOf(0.797884561f * (x + 0.044715f * x * x * x)));
  }
}

static constexpr size_t kRow = 512;

[[gnu::always_inline]] static inline void runLayerNorm(float *result, const float *operand,
                                                       size_t count) {
#pragma clang fp reassociate(on)
  for (size_t row = 0; row < count; row += kRow) {
    const float *x = operand + row;
    float *y = result + row;
    float sum = 0, squares = 0;
    for (size_t i = 0; i < kRow; ++i)
      sum += x[i];
    const float mean = sum / kRow;
    for (size_t i = 0; i < kRow; ++i)
      squares += (x[i] - mean) * (x[i] - mean);
    const float scale = 1.0f / std::sqrt(squares / kRow + 1e-5f);
#pragma clang loop vectorize(assume_safety)
    for (size_t i = 0; i < kRow; ++i)
      y[i] = (x[i] - mean) * scale;
  }
}

// Compiled once for each kind of vectors and selected at the call.
#define ZERO_RT_LOOP(name)                                                                         \
  static void name##Plain(float *result, const float *operand, size_t count) {                     \
    run##name(result, operand, count);                                                             \
  }                                                                                                \
  ZERO_RT_TARGET("avx2,fma")                                                                       \
  static void name##Avx2(float *result, const float *operand, size_t count) {                      \
    run##name(result, operand, count);                                                             \
  }                                                                                                \
  ZERO_RT_TARGET("avx512f,fma")                                                                    \
  static void name##Avx512(float *result, const float *operand, size_t count) {                    \
    run##name(result, operand, count);                                                             \
  }                                                                                                \
  static auto name##OfThisMachine() {                                                              \
    const Level level = levelOfThisMachine();                                                      \
    return level == Level::Avx512 ? name##Avx512                                                   \
           : level == Level::Avx2 ? name##Avx2                                                     \
                                  : name##Plain;                                                   \
  }

ZERO_RT_LOOP(Gelu)
ZERO_RT_LOOP(LayerNorm)

NativeLoop geluLoop() { return {GeluOfThisMachine(), 9}; }
NativeLoop layerNormLoop() { return {LayerNormOfThisMachine(), 6}; }

} // namespace zero::rt
