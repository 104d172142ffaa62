//===- npy.h - NumPy's array format -----------------------------*- C++ -*-===//

#ifndef RUNTIME_IO_NPY_H
#define RUNTIME_IO_NPY_H

#include "runtime/io/array.h"

namespace zero::rt {

/// Reads the header of a .npy, versions 1 to 3, and points `array` at its elements inside `file`.
/// An error names what is not supported: Fortran order, big-endian and object types, a size that
/// overflows or differs from that of the file.
Status parseNpy(std::span<const uint8_t> file, Array &array);

} // namespace zero::rt

#endif // RUNTIME_IO_NPY_H
