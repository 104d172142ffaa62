//===- reduce.h - sums in rank order ----------------------------*- C++ -*-===//

#ifndef RUNTIME_COMM_REDUCE_H
#define RUNTIME_COMM_REDUCE_H

#include "runtime/support/dtype.h"
#include "runtime/support/status.h"

#include <cstdint>
#include <span>

namespace zero::rt {

/// Whether sumInOrder() knows the type: float32, float64, int32, int64.
bool canSum(DType dtype);

/// destination[i] = sources[0][i] + sources[1][i] + ..., in this order, then divided
/// by `divisor` unless that is 1. `destination` may be one of the sources.
void sumInOrder(DType dtype, std::span<const void *const> sources, void *destination,
                uint64_t elements, int divisor);

} // namespace zero::rt

#endif // RUNTIME_COMM_REDUCE_H
