//===- convert.h - convert elements -----------------------------*- C++ -*-===//

#ifndef RUNTIME_IO_CONVERT_H
#define RUNTIME_IO_CONVERT_H

#include "runtime/support/dtype.h"

namespace zero::rt {

/// Writes `count` elements of one type as another. Neither side need be aligned.
using Conversion = void (*)(const uint8_t *source, uint8_t *target, uint64_t count);

/// The conversion from the type of a file to that of an input: the same type, or one that
/// represents every value exactly. uint8 is also converted to bool, true unless 0. nullptr for any
/// other pair: the user must convert values that would round or overflow.
Conversion conversion(DType from, DType to);

} // namespace zero::rt

#endif // RUNTIME_IO_CONVERT_H
