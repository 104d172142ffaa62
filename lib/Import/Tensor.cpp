//===- Tensor.cpp - element types, shapes and small values ----------------===//

#include "Tensor.h"

#include "runtime/support/checked.h"

using namespace mlir;

namespace zero::importer {

int64_t elementBytes(int32_t type) {
  switch (type) {
  case pb::TensorProto::BOOL:
  case pb::TensorProto::INT8:
  case pb::TensorProto::UINT8:
    return 1;
  case pb::TensorProto::FLOAT16:
  case pb::TensorProto::BFLOAT16:
  case pb::TensorProto::INT16:
  case pb::TensorProto::UINT16:
    return 2;
  case pb::TensorProto::FLOAT:
  case pb::TensorProto::INT32:
  case pb::TensorProto::UINT32:
    return 4;
  case pb::TensorProto::DOUBLE:
  case pb::TensorProto::INT64:
  case pb::TensorProto::UINT64:
    return 8;
  default:
    return 0;
  }
}

bool isFloat(int32_t type) {
  return type == pb::TensorProto::FLOAT || type == pb::TensorProto::FLOAT16 ||
         type == pb::TensorProto::BFLOAT16 || type == pb::TensorProto::DOUBLE;
}

bool isInteger(int32_t type) {
  return type == pb::TensorProto::INT64 || type == pb::TensorProto::INT32 ||
         type == pb::TensorProto::BOOL;
}

const llvm::fltSemantics &semanticsOf(int32_t type) {
  switch (type) {
  case pb::TensorProto::FLOAT16:
    return llvm::APFloat::IEEEhalf();
  case pb::TensorProto::BFLOAT16:
    return llvm::APFloat::BFloat();
  case pb::TensorProto::FLOAT:
    return llvm::APFloat::IEEEsingle();
  default:
    return llvm::APFloat::IEEEdouble();
  }
}

std::string typeName(int32_t type) {
  if (!pb::TensorProto::DataType_IsValid(type))
    return "type " + std::to_string(type);
  return StringRef(pb::TensorProto::DataType_Name(static_cast<pb::TensorProto::DataType>(type)))
      .lower();
}

Type elementType(int32_t type, MLIRContext *context, const llvm::Twine &what) {
  switch (type) {
  case pb::TensorProto::FLOAT:
    return Float32Type::get(context);
  case pb::TensorProto::DOUBLE:
    return Float64Type::get(context);
  case pb::TensorProto::FLOAT16:
    return Float16Type::get(context);
  case pb::TensorProto::BFLOAT16:
    return BFloat16Type::get(context);
  case pb::TensorProto::BOOL:
    return IntegerType::get(context, 1);
  case pb::TensorProto::INT8:
  case pb::TensorProto::INT16:
  case pb::TensorProto::INT32:
  case pb::TensorProto::INT64:
    return IntegerType::get(context, 8 * elementBytes(type));
  case pb::TensorProto::UINT8:
  case pb::TensorProto::UINT16:
  case pb::TensorProto::UINT32:
  case pb::TensorProto::UINT64:
    return IntegerType::get(context, 8 * elementBytes(type), IntegerType::Unsigned);
  default:
    fail(what + ": expected a float, integer or bool element type, got " + typeName(type));
  }
}

RankedTensorType tensorType(int32_t type, ArrayRef<int64_t> dims, MLIRContext *context,
                            const llvm::Twine &what) {
  return RankedTensorType::get(dims, elementType(type, context, what));
}

int64_t countElements(int32_t type, ArrayRef<int64_t> dims, const llvm::Twine &what) {
  // At least one byte an element: the bytes bound the elements, too.
  int64_t bytes = std::max<int64_t>(elementBytes(type), 1);
  const int64_t width = bytes;
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      fail(what + ": expected a dimension that is not negative, got " + llvm::Twine(dim));
    empty |= dim == 0;
    if (dim != 0 && !checkedMultiply(bytes, dim, bytes))
      fail(what + ": its size in bytes does not fit 63 bits");
  }
  if (!empty && bytes > kMaxTensorBytes)
    fail(what + ": expected a tensor of at most 1 TiB, got " + llvm::Twine(bytes) + " bytes");
  return empty ? 0 : bytes / width;
}

/// Appends `values` as little-endian elements of type `T`.
template <typename T, typename Range>
static void appendAs(std::string &bytes, const Range &values) {
  for (auto value : values) {
    T element = static_cast<T>(value);
    bytes.append(reinterpret_cast<const char *>(&element), sizeof(T));
  }
}

/// The 32-bit field of TensorProto holds all types of up to 32 bits.
static std::string smallTypedBytes(const pb::TensorProto &tensor) {
  std::string bytes;
  switch (elementBytes(tensor.data_type())) {
  case 1:
    appendAs<uint8_t>(bytes, tensor.int32_data());
    break;
  case 2:
    appendAs<uint16_t>(bytes, tensor.int32_data());
    break;
  default:
    appendAs<uint32_t>(bytes, tensor.int32_data());
    break;
  }
  return bytes;
}

static std::string typedBytes(const pb::TensorProto &tensor) {
  std::string bytes;
  switch (tensor.data_type()) {
  case pb::TensorProto::FLOAT:
    appendAs<float>(bytes, tensor.float_data());
    return bytes;
  case pb::TensorProto::DOUBLE:
    appendAs<double>(bytes, tensor.double_data());
    return bytes;
  case pb::TensorProto::INT64:
    appendAs<int64_t>(bytes, tensor.int64_data());
    return bytes;
  case pb::TensorProto::UINT32:
    appendAs<uint32_t>(bytes, tensor.uint64_data());
    return bytes;
  case pb::TensorProto::UINT64:
    appendAs<uint64_t>(bytes, tensor.uint64_data());
    return bytes;
  default:
    return smallTypedBytes(tensor);
  }
}

std::string tensorBytes(const pb::TensorProto &tensor) {
  std::string what = "tensor " + quote(tensor.name());
  const int64_t width = elementBytes(tensor.data_type());
  if (width == 0)
    fail(what + ": expected a float, integer or bool element type, got " +
         typeName(tensor.data_type()));
  int64_t expected = countElements(tensor.data_type(), dimsOf(tensor), what) * width;
  std::string bytes = tensor.has_raw_data() ? tensor.raw_data() : typedBytes(tensor);
  if (static_cast<int64_t>(bytes.size()) != expected)
    fail(what + ": expected " + llvm::Twine(expected) + " bytes of data for its shape, got " +
         llvm::Twine(bytes.size()));
  return bytes;
}

evaluate::ElementType elementTypeOf(int32_t type) {
  if (isFloat(type))
    return evaluate::ElementType::floats(semanticsOf(type));
  if (type == pb::TensorProto::BOOL)
    return {1, true};
  const bool isUnsigned = llvm::is_contained({pb::TensorProto::UINT8, pb::TensorProto::UINT16,
                                              pb::TensorProto::UINT32, pb::TensorProto::UINT64},
                                             type);
  return {8 * unsigned(elementBytes(type)), isUnsigned};
}

evaluate::Values toValues(const pb::TensorProto &tensor) {
  evaluate::Values values{elementTypeOf(tensor.data_type()), Dims(dimsOf(tensor)), {}};
  const std::string bytes = tensorBytes(tensor);
  const size_t width = elementBytes(tensor.data_type());
  for (size_t at = 0; at < bytes.size(); at += width) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, width);
    values.elements.push_back(values.type.isBool() ? bits != 0
                                                   : evaluate::elementOfBits(values.type, bits));
  }
  return values;
}

pb::TensorProto fromValues(const evaluate::Values &values, int32_t type) {
  std::string bytes;
  for (int64_t i = 0, count = evaluate::countOf(values.dims); i < count; ++i) {
    const int64_t element = values.at(i);
    bytes.append(reinterpret_cast<const char *>(&element), elementBytes(type));
  }
  return makeTensor(type, values.dims, std::move(bytes));
}

std::optional<evaluate::Values> toInts(const pb::TensorProto &tensor) {
  return isInteger(tensor.data_type()) ? std::optional(toValues(tensor)) : std::nullopt;
}

double firstNumber(const pb::TensorProto &tensor) {
  const evaluate::Values values = toValues(tensor);
  return evaluate::toDouble(values.type, values.elements.front());
}

pb::TensorProto fromInts(ArrayRef<int64_t> dims, std::vector<int64_t> values, int32_t type) {
  return fromValues({elementTypeOf(type), Dims(dims), std::move(values)}, type);
}

pb::TensorProto makeTensor(int32_t type, ArrayRef<int64_t> dims, std::string bytes) {
  pb::TensorProto tensor;
  tensor.set_data_type(type);
  tensor.mutable_dims()->Add(dims.begin(), dims.end());
  tensor.set_raw_data(std::move(bytes));
  return tensor;
}

/// Whether all elements of `width` bytes are the same.
static bool isSplat(StringRef bytes, int64_t width) {
  return static_cast<int64_t>(bytes.size()) > width &&
         bytes.drop_front(width) == bytes.drop_back(width);
}

DenseElementsAttr toElements(const pb::TensorProto &tensor, MLIRContext *context) {
  RankedTensorType type =
      tensorType(tensor.data_type(), dimsOf(tensor), context, "tensor " + quote(tensor.name()));
  std::string bytes = tensorBytes(tensor);
  if (tensor.data_type() == pb::TensorProto::BOOL) {
    llvm::SmallVector<bool> flags;
    for (char byte : bytes)
      flags.push_back(byte != 0);
    return DenseElementsAttr::get(type, flags);
  }
  const int64_t width = elementBytes(tensor.data_type());
  ArrayRef<char> raw(bytes.data(), isSplat(bytes, width) ? width : bytes.size());
  return DenseElementsAttr::getFromRawBuffer(type, raw);
}

} // namespace zero::importer
