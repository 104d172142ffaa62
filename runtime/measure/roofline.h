//===- roofline.h - limits of cores -----------------------------*- C++ -*-===//
//
// The two limits of Williams, Waterman and Patterson's roofline (2009), measured: how
// fast registers are multiplied and added, and how fast memory beyond the caches is read
// and written.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_MEASURE_ROOFLINE_H
#define RUNTIME_MEASURE_ROOFLINE_H

#include "runtime/device/device.h"
#include "runtime/measure/loops.h"

namespace zero::rt {

/// The cores of one rank: its calling thread's and those of its library threads. A
/// measurement runs the same loop on all of them for `seconds` and returns the sum of
/// their rates, each in its best millisecond.
class Roofline {
public:
  /// Reserves and touches `bytes` of memory for `threads` threads. The part of each thread should
  /// exceed the caches.
  static Status create(int threads, uint64_t bytes, std::unique_ptr<Roofline> &roofline);

  /// Operations a second of float32 multiply-adds, two each, in the widest vectors that
  /// this CPU has; without FMA, multiplications and additions.
  double flops(double seconds);
  /// The same of bf16 to sums of float32; 0 if this CPU has no such instruction.
  double halfFlops(double seconds);
  /// Bytes a second of a[i] = b[i] + s c[i], three arrays.
  double triadBandwidth(double seconds);
  /// Bytes a second, read and written, of memcpy.
  double copyBandwidth(double seconds);
  /// The rate of the triad, repeated over arrays of `bytes` in total: from caches that hold them,
  /// of which each thread has its share.
  double cacheBandwidth(double seconds, uint64_t bytes);
  /// Bytes a second, read and written, of `loop` over memory beyond the caches.
  double loopBandwidth(double seconds, const NativeLoop &loop);

  /// The memory of the measurements. Others may use it between them.
  const Arena &getMemory() const { return *memory; }
  /// Fills it with ones.
  void fill();

private:
  Roofline(int threads, std::unique_ptr<Arena> memory);
  template <typename Work>
  double measure(double seconds, Work work);

  int threads;
  std::unique_ptr<Arena> memory;
  uint64_t perThread; ///< floats
};

} // namespace zero::rt

#endif // RUNTIME_MEASURE_ROOFLINE_H
