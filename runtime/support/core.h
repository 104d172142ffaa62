//===- core.h - instructions of a processor's core --------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_CORE_H
#define RUNTIME_SUPPORT_CORE_H

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#error "the runtime knows x86-64 and AArch64"
#endif

namespace zero::rt {

/// Tells the core that this thread polls.
inline void pauseCore() {
#if defined(__x86_64__)
  _mm_pause();
#else
  __asm__ volatile("yield");
#endif
}

/// Lets operations of this thread flush denormal operands and results to zero. Conversions between
/// f32 and f16 keep denormal numbers of f16.
inline void flushDenormals() {
#if defined(__x86_64__)
  constexpr unsigned kFlushResults = 0x8000, kFlushOperands = 0x0040;
  _mm_setcsr(_mm_getcsr() | kFlushResults | kFlushOperands);
#else
  constexpr uint64_t kFlushBoth = uint64_t(1) << 24; // FZ of FPCR
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("msr fpcr, %0" : : "r"(control | kFlushBoth));
#endif
}

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_CORE_H
