//===- Tensors.cpp - tensors of an emitted graph --------------------------===//

#include "Tensors.h"

#include "dialects/Onnx/ElementTypes.h"
#include "runtime/support/floats.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace zero::emitter {

/// Tensors in a file begin at multiples of this, and smaller ones are in the graph.
static constexpr uint64_t kAlignment = 4096, kLeastExternal = 1024;

void setType(RankedTensorType type, pb::TensorProto &tensor) {
  tensor.set_data_type(int32_t(onnx::dataTypeOf(type.getElementType())));
  for (int64_t extent : type.getShape())
    tensor.add_dims(extent);
}

void setType(RankedTensorType type, pb::TypeProto &proto) {
  auto *tensor = proto.mutable_tensor_type();
  tensor->set_elem_type(int32_t(onnx::dataTypeOf(type.getElementType())));
  auto *shape = tensor->mutable_shape();
  for (int64_t extent : type.getShape())
    shape->add_dim()->set_dim_value(extent);
}

std::string bytesOf(DenseElementsAttr elements) {
  std::string bytes;
  if (elements.getElementType().isInteger(1)) {
    for (bool value : elements.getValues<bool>())
      bytes += char(value);
    return bytes;
  }
  ArrayRef<char> raw = elements.getRawData();
  const int64_t copies = elements.isSplat() ? elements.getNumElements() : 1;
  bytes.reserve(raw.size() * copies);
  for (int64_t i = 0; i < copies; ++i)
    bytes.append(raw.data(), raw.size());
  return bytes;
}

DenseElementsAttr splatOf(RankedTensorType type, double value) {
  Type element = type.getElementType();
  Builder builder(type.getContext());
  Attribute attr = isa<FloatType>(element)
                       ? Attribute(builder.getFloatAttr(element, value))
                       : Attribute(builder.getIntegerAttr(element, int64_t(value)));
  return DenseElementsAttr::get(type, attr);
}

static rt::DType floatOf(Type type) {
  if (type.isF16())
    return ZERO_RT_F16;
  if (type.isBF16())
    return ZERO_RT_BF16;
  return type.isF64() ? ZERO_RT_F64 : ZERO_RT_F32;
}

/// The bytes of a matrix of `rows` rows from those of its transpose.
static std::string transposed(const std::string &bytes, int64_t rows, int64_t columns) {
  const size_t size = rows * columns == 0 ? 0 : bytes.size() / (rows * columns);
  std::string result(bytes.size(), '\0');
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      std::copy_n(bytes.data() + (column * rows + row) * size, size,
                  result.data() + (row * columns + column) * size);
  return result;
}

rt::Status InitialValues::read(DataAttr data, RankedTensorType type, std::string &bytes) {
  rt::InputFile &file = files[data.getFile()];
  if (file.size() == 0) {
    SmallString<128> path(root);
    llvm::sys::path::append(path, data.getFile());
    ZERO_RT_TRY(rt::InputFile::open(path.str().str(), file));
  }
  bytes.resize(data.getBytes());
  ZERO_RT_TRY(file.read(data.getOffset(), bytes.data(), bytes.size()));
  Type to = type.getElementType();
  Type from = data.getStored() ? getElementTypeOrSelf(data.getStored()) : to;
  if (from != to) {
    std::string wide(type.getNumElements() * rt::sizeOf(floatOf(to)), '\0');
    rt::convertFloats(floatOf(from), bytes.data(), floatOf(to), wide.data(), type.getNumElements());
    bytes = std::move(wide);
  }
  if (isa_and_present<RankedTensorType>(data.getStored()))
    bytes = transposed(bytes, type.getDimSize(0), type.getDimSize(1));
  return {};
}

rt::Status TensorWriter::open(const std::string &path) {
  if (path.empty())
    return {};
  location = llvm::sys::path::filename(path).str();
  return rt::OutputFile::create(path, file);
}

rt::Status TensorWriter::add(std::string bytes, pb::TensorProto &tensor) {
  if (location.empty() || bytes.size() < kLeastExternal) {
    tensor.set_raw_data(std::move(bytes));
    return {};
  }
  if (uint64_t rest = written % kAlignment) {
    ZERO_RT_TRY(file.write(std::string(kAlignment - rest, '\0')));
    written += kAlignment - rest;
  }
  ZERO_RT_TRY(file.write(bytes));
  tensor.set_data_location(pb::TensorProto::EXTERNAL);
  auto set = [&](const char *key, const std::string &value) {
    auto *entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  set("location", location);
  set("offset", std::to_string(written));
  set("length", std::to_string(bytes.size()));
  written += bytes.size();
  return {};
}

rt::Status TensorWriter::commit() { return location.empty() ? rt::Status() : file.commit(); }

} // namespace zero::emitter
