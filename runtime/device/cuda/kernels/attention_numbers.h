//===- attention_numbers.h - numbers on a GPU -------------------*- C++ -*-===//
//
// For code that is compiled to PTX: types as they are stored, functions, threads.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_NUMBERS_H
#define RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_NUMBERS_H

#include "runtime/device/cuda/kernels/attention_parameters.h"

#define GLOBAL __attribute__((address_space(1)))
#define SHARED __attribute__((address_space(3)))
/// Loops over what a thread has in registers are unrolled: memory has indices, registers do not.
#define UNROLLED _Pragma("unroll")

namespace zero::rt::cuda {
namespace {

using Word = unsigned;
using Short = unsigned short;
using Vector = Word __attribute__((ext_vector_type(4)));

constexpr float kInfinity = __builtin_inff();

// A function that is called would need its arguments in memory.
#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)

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

/// NaN if one of them is.
float larger(float a, float b) {
  float value;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(value) : "f"(a), "f"(b));
  return value;
}

constexpr float kLog2E = 1.44269504f;

/// e to the power of x, within 2 units in the last place.
float exponential(float x) {
  x = x < -104 ? -104 : x > 89 ? 89 : x; // NaN stays
  const int power = __nvvm_f2i_rn(x * kLog2E), half = power / 2;
  const float n = static_cast<float>(power);
  float r = __builtin_fmaf(n, -0.693145751953125f, x);
  r = __builtin_fmaf(n, -1.42860677e-6f, r);
  constexpr float kFactors[] = {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                                1.6666665459e-1f, 5.0000001201e-1f};
  float p = 1.9875691500e-4f;
  UNROLLED for (float factor : kFactors) p = __builtin_fmaf(p, r, factor);
  p = __builtin_fmaf(p * r, r, r) + 1;
  // in two steps: the result may be subnormal, or infinite
  auto two = [](int k) { return __builtin_bit_cast(float, static_cast<Word>(k + 127) << 23); };
  return p * two(half) * two(power - half);
}

/// 2 to the power of x, within 2 units in the last place of float32; zero instead of a subnormal.
float powerOfTwo(float x) {
  float value;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
  return value;
}

/// The natural logarithm of a positive normal number.
float logarithm(float x) {
  const int bits = __builtin_bit_cast(int, x);
  const int power = ((bits - 0x3f3504f3) >> 23);
  const float m = __builtin_bit_cast(float, bits - (power << 23)); // in [sqrt(1/2), sqrt(2))
  const float f = m - 1, s = f / (2 + f), z = s * s;
  constexpr float kFactors[] = {2.0f / 7, 2.0f / 5, 2.0f / 3};
  float p = 2.0f / 9;
  UNROLLED for (float factor : kFactors) p = __builtin_fmaf(p, z, factor);
  const float log = __builtin_fmaf(s * z, p, 2 * s);
  return __builtin_fmaf(static_cast<float>(power), 0.693145751953125f,
                        __builtin_fmaf(static_cast<float>(power), 1.42860677e-6f, log));
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

int threadNumber() { return __nvvm_read_ptx_sreg_tid_x(); }
int laneNumber() { return threadNumber() % 32; }
int warpNumber() { return threadNumber() / 32; }
int blockNumber() { return __nvvm_read_ptx_sreg_ctaid_x(); }

float fromLane(float value, int mask) {
  return __builtin_bit_cast(
      float, __nvvm_shfl_sync_bfly_i32(-1, __builtin_bit_cast(int, value), mask, 31));
}
long fromLane(long value, int mask) {
  const auto low =
      static_cast<Word>(__nvvm_shfl_sync_bfly_i32(-1, static_cast<int>(value), mask, 31));
  const long high = __nvvm_shfl_sync_bfly_i32(-1, static_cast<int>(value >> 32), mask, 31);
  return high << 32 | low;
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

#pragma clang attribute pop

} // namespace
} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_NUMBERS_H
