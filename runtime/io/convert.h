//===- convert.h - convert elements -----------------------------*- C++ -*-===//

#ifndef RUNTIME_IO_CONVERT_H
#define RUNTIME_IO_CONVERT_H

#include "runtime/support/dtype.h"

namespace zero::rt {

/// Writes `count` elements of one type as another. Neither side need be aligned.
using Conversion = void (*)(const uint8_t *source, uint8_t *target, uint64_t count);

/// From the type of a file to that of an input: the same, or one that holds every
/// value of it exactly; uint8 is a bool as well, true unless 0. nullptr for any other
/// pair: what would round or overflow is the user's to convert.
Conversion conversion(DType from, DType to);

} // namespace zero::rt

#endif // RUNTIME_IO_CONVERT_H
