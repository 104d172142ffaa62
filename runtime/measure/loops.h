//===- loops.h - loops like those of the compiler ---------------*- C++ -*-===//
//
// Two loops that represent the others when a machine is measured: an elementwise loop with much
// arithmetic, and a row loop that sums.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_MEASURE_LOOPS_H
#define RUNTIME_MEASURE_LOOPS_H

#include <cstddef>

namespace zero::rt {

/// A loop over float32 that reads and writes each element once.
struct NativeLoop {
  /// The operands must not overlap, and `count` must be a multiple of 512.
  void (*run)(float *result, const float *operand, size_t count);
  double flops; ///< of an element, as the compiler counts: a call of tanh is one
};

/// tanh-GELU, with MLIR's rational tanh, for this CPU's vectors.
NativeLoop geluLoop();

/// LayerNorm without scale over rows of 512.
NativeLoop layerNormLoop();

} // namespace zero::rt

#endif // RUNTIME_MEASURE_LOOPS_H
