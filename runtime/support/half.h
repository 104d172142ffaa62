//===- half.h - 16-bit floats to and from f32, in vectors -------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_HALF_H
#define RUNTIME_SUPPORT_HALF_H

#include "runtime/support/dtype.h"

namespace zero::rt {

/// float16 or bfloat16.
inline bool isHalf(DType dtype) { return dtype == ZERO_RT_F16 || dtype == ZERO_RT_BF16; }

/// Converts `count` elements of `from`, a half, to f32. Neither side needs to be aligned;
/// `source` may be the last bytes of `destination`, otherwise the two do not overlap.
/// Subnormals are kept, whatever the thread does with them elsewhere.
void widenHalves(DType from, const void *source, float *destination, size_t count);

/// Converts f32 to `to`, a half, rounding to nearest even.
void narrowToHalves(DType to, const float *source, void *destination, size_t count);

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_HALF_H
