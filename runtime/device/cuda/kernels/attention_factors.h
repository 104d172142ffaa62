//===- attention_factors.h - factors of products on a GPU -------*- C++ -*-===//
//
// For code that is compiled to PTX: how factors of float32 and of 16 bits are stored, multiplied by
// tensor cores, and brought to shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_FACTORS_H
#define RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_FACTORS_H

#include "runtime/device/cuda/kernels/attention_numbers.h"

namespace zero::rt::cuda {
namespace {

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)

struct Float {
  using Element = float;
  static constexpr bool kIsFloat = true;
  static float take(const GpuRows &rows, long index) {
    return loadAs(rows.stored, rows.data, index);
  }
  /// e to the power of scale x - shift, and of x.
  static float exponentialOf(float x, float scale, float shift) {
    return exponential(x * scale - shift);
  }
  static float exponentialOf(float x) { return exponential(x); }
};
/// Factors of 16 bits, as they are stored.
struct Stored {
  using Element = Short;
  static constexpr bool kIsFloat = false;
  static Short take(const GpuRows &rows, long index) {
    return reinterpret_cast<const Short *>(rows.data)[index];
  }
  // Weights are rounded to 16 bits.
  static float exponentialOf(float x, float scale, float shift) {
    return powerOfTwo(__builtin_fmaf(x, scale * kLog2E, -shift * kLog2E));
  }
  static float exponentialOf(float x) { return powerOfTwo(x * kLog2E); }
};
struct Half : Stored {
  static Word pair(float low, float high) {
    Word bits;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
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
    Word bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
  }
  static void multiply(float (&sum)[4], const Word (&a)[4], Word b0, Word b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};

Word addressOf(SHARED const void *place) {
  return static_cast<Word>(reinterpret_cast<__UINTPTR_TYPE__>(place));
}

/// Four matrices of 8 x 8 elements, one behind the other in `words`. Thread t has elements
/// 2 (t % 4) and 2 (t % 4) + 1 of row t / 4, with `Transposed` of column t / 4. Threads 8 m to
/// 8 m + 7 give the rows of matrix m.
template <bool Transposed = false>
void takeMatrices(SHARED const Short *row, Word (&words)[4]) {
#define LOAD(modifier)                                                                             \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4" modifier ".shared.b16 {%0, %1, %2, %3}, [%4];"      \
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])                    \
               : "r"(addressOf(row))                                                               \
               : "memory")
  if constexpr (Transposed)
    LOAD(".trans");
  else
    LOAD("");
#undef LOAD
}

//===----------------------------------------------------------------------===//
// Copies to shared memory, in the background
//===----------------------------------------------------------------------===//

/// Copies 16 bytes, or zeros if they are not `there`.
void copyVector(SHARED void *to, const char *from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(addressOf(to)), "l"((GLOBAL const char *)from), "r"(there ? 16 : 0)
               : "memory");
}
/// The same of one number.
void copyNumber(SHARED float *to, const float *from, bool there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :
               : "r"(addressOf(to)), "l"((GLOBAL const float *)from), "r"(there ? 4 : 0)
               : "memory");
}
/// All that this thread copies is there.
void awaitCopies() { asm volatile("cp.async.wait_all;" : : : "memory"); }

#pragma clang attribute pop

} // namespace
} // namespace zero::rt::cuda

#endif // RUNTIME_DEVICE_CUDA_KERNELS_ATTENTION_FACTORS_H
