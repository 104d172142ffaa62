//===- reduce.h - sums in rank order ----------------------------*- C++ -*-===//

#ifndef RUNTIME_COMM_REDUCE_H
#define RUNTIME_COMM_REDUCE_H

#include "runtime/comm/communicator.h"

#include <span>

namespace zero::rt {

/// Whether sumInOrder() knows the way: float32, float64, int32 and int64 in themselves,
/// float16 and bfloat16 in themselves or in float32.
bool canSum(const Reduction &how);

/// destination[i] = sources[0][i] + sources[1][i] + ..., in this order, then divided
/// by `divisor` unless that is 1. `destination` may be one of the sources. With another
/// arithmetic than the type the result is rounded once, at the end; 16-bit floats in
/// their own are rounded after each addition, as if the machine had it. Unless `group` is 0, each
/// `group` consecutive sources are added first, in order, and then these sums, in order.
void sumInOrder(const Reduction &how, std::span<const void *const> sources, void *destination,
                uint64_t elements, int divisor, uint64_t group = 0);

/// The two halves of a sum in groups: sumPartly() adds one group, in the type of its additions and
/// without a division; sumPartials() adds the results of all groups.
void sumPartly(const Reduction &how, std::span<const void *const> sources, void *destination,
               uint64_t elements);
void sumPartials(const Reduction &how, std::span<const void *const> partials, void *destination,
                 uint64_t elements, int divisor);

} // namespace zero::rt

#endif // RUNTIME_COMM_REDUCE_H
