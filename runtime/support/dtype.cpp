//===- dtype.cpp - element types ------------------------------------------===//

#include "runtime/support/dtype.h"

#include "runtime/support/checked.h"
#include "runtime/support/floats.h"

#include <algorithm>

namespace zero::rt {

namespace {
struct Description {
  size_t size;
  const char *name;
  const char *safetensors;
  uint64_t onnx; ///< in TensorProto.DataType
};
} // namespace

static const Description &describe(DType dtype) {
  static const Description table[] = {
      {0, "no type", "", 0},     {4, "float32", "F32", 1},    {8, "float64", "F64", 11},
      {2, "float16", "F16", 10}, {2, "bfloat16", "BF16", 16}, {1, "bool", "BOOL", 9},
      {1, "int8", "I8", 3},      {4, "int32", "I32", 6},      {8, "int64", "I64", 7},
      {1, "uint8", "U8", 2},     {2, "int16", "I16", 5},      {2, "uint16", "U16", 4},
      {4, "uint32", "U32", 12},  {8, "uint64", "U64", 13},
  };
  size_t index = static_cast<size_t>(dtype);
  return table[index < std::size(table) ? index : 0];
}

size_t sizeOf(DType dtype) { return describe(dtype).size; }
const char *nameOf(DType dtype) { return describe(dtype).name; }

DType dtypeNamed(const std::string &name) {
  for (int i = 1; describe(DType(i)).size > 0; ++i)
    if (name == nameOf(DType(i)))
      return DType(i);
  return ZERO_RT_NO_DTYPE;
}

const char *safetensorsName(DType dtype) { return describe(dtype).safetensors; }

uint64_t onnxTypeOf(DType dtype) { return describe(dtype).onnx; }

DType dtypeOfOnnx(uint64_t type) {
  for (int i = 1; describe(DType(i)).size > 0; ++i)
    if (type == onnxTypeOf(DType(i)))
      return DType(i);
  return ZERO_RT_NO_DTYPE;
}

template <typename T>
static void fillWith(T value, void *destination, size_t count) {
  std::fill_n(static_cast<T *>(destination), count, value);
}

void fill(DType dtype, double value, void *destination, size_t count) {
  switch (dtype) {
  case ZERO_RT_F32:
    return fillWith(static_cast<float>(value), destination, count);
  case ZERO_RT_F64:
    return fillWith(value, destination, count);
  case ZERO_RT_F16:
    return fillWith(static_cast<_Float16>(value), destination, count);
  case ZERO_RT_BF16:
    return fillWith(BFloat16(static_cast<float>(value)), destination, count);
  case ZERO_RT_BOOL:
    return fillWith<uint8_t>(value != 0, destination, count);
  case ZERO_RT_I8:
    return fillWith(static_cast<int8_t>(value), destination, count);
  case ZERO_RT_U8:
    return fillWith(static_cast<uint8_t>(value), destination, count);
  case ZERO_RT_I16:
    return fillWith(static_cast<int16_t>(value), destination, count);
  case ZERO_RT_U16:
    return fillWith(static_cast<uint16_t>(value), destination, count);
  case ZERO_RT_U32:
    return fillWith(static_cast<uint32_t>(value), destination, count);
  case ZERO_RT_U64:
    return fillWith(static_cast<uint64_t>(value), destination, count);
  case ZERO_RT_I32:
    return fillWith(static_cast<int32_t>(value), destination, count);
  case ZERO_RT_I64:
    return fillWith(static_cast<int64_t>(value), destination, count);
  case ZERO_RT_NO_DTYPE:
    return;
  }
}

std::string shapeText(std::span<const uint64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

bool countElements(std::span<const uint64_t> shape, uint64_t &count) {
  count = 1;
  return checkedProduct(shape, uint64_t(1) << 62, count);
}

bool countBytes(uint64_t count, DType dtype, uint64_t &bytes) {
  return sizeOf(dtype) > 0 && checkedMultiply(count, sizeOf(dtype), bytes);
}

bool countBytes(std::span<const uint64_t> shape, DType dtype, uint64_t &bytes) {
  uint64_t count;
  return countElements(shape, count) && countBytes(count, dtype, bytes);
}

} // namespace zero::rt
