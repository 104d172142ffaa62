//===- library_rate.h - measure library kernels -----------------*- C++ -*-===//

#ifndef RUNTIME_MEASURE_LIBRARY_RATE_H
#define RUNTIME_MEASURE_LIBRARY_RATE_H

#include "runtime/device/cpu/library.h"
#include "runtime/device/device.h"

#include <vector>

namespace zero::rt {

/// A kernel of float32, ready to be timed.
struct TimedKernel {
  proto::Kernel kernel;
  std::vector<uint64_t> arguments; ///< bytes of each, without the workspace
  double flops;                    ///< of a launch, as the compiler counts them
};

/// C[m, n] = A[m, k] B[k, n]; a transposed operand is stored by columns.
TimedKernel timedProduct(uint64_t m, uint64_t n, uint64_t k, bool transposedA, bool transposedB);

/// Causal attention of 8 heads of 64 over `rows` queries and keys, packed in one tensor, or
/// its gradient, in a batch of 1024 rows or one.
TimedKernel timedAttention(uint64_t rows, bool backward);

/// A 3 x 3 convolution from 64 to 64 channels of 8 images of 32 x 32.
TimedKernel timedConvolution();

/// Seconds of the median launch among those of `seconds`, at least two, by `threads`
/// threads; prepareTeam() comes before. Each works on the next part of `memory`, so that operands
/// come from as far as they do in a step.
Status timeKernel(const TimedKernel &timed, int threads, const Arena &memory, double seconds,
                  double &median);

} // namespace zero::rt

#endif // RUNTIME_MEASURE_LIBRARY_RATE_H
