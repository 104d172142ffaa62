//===- dtype.h - element types ----------------------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_DTYPE_H
#define RUNTIME_SUPPORT_DTYPE_H

#include "zero_rt/zero_rt.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace zero::rt {

using DType = zero_rt_dtype;

/// Bytes of one element; 0 for a value that is no element type.
size_t sizeOf(DType dtype);

/// For messages: "float32".
const char *nameOf(DType dtype);

/// The type that nameOf() calls `name`, or ZERO_RT_NO_DTYPE.
DType dtypeNamed(const std::string &name);

/// For safetensors: "F32".
const char *safetensorsName(DType dtype);

/// The type with number `type` in ONNX's TensorProto, or ZERO_RT_NO_DTYPE.
DType dtypeOfOnnx(uint64_t type);

/// The number of `dtype` there; 0, undefined, if it is no element type.
uint64_t onnxTypeOf(DType dtype);

/// Writes `count` elements of `value`, converted to `dtype`, at `destination`.
void fill(DType dtype, double value, void *destination, size_t count);

/// "[4, 32]".
std::string shapeText(std::span<const uint64_t> shape);

/// Elements of `shape`; false when the product overflows 2^62.
bool countElements(std::span<const uint64_t> shape, uint64_t &count);

/// Bytes of `count` elements; false for no element type, and where they overflow.
bool countBytes(uint64_t count, DType dtype, uint64_t &bytes);

/// The same for a tensor of `shape`.
bool countBytes(std::span<const uint64_t> shape, DType dtype, uint64_t &bytes);

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_DTYPE_H
