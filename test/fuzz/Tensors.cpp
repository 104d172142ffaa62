//===- Tensors.cpp - mutates ONNX tensors ---------------------------------===//

#include "Tensors.h"
#include "Model.h"

#include <algorithm>
#include <cstring>

using namespace onnx;

namespace zero::fuzz {

/// Only tensors of at most this many bytes get data.
static constexpr uint64_t kMostBytes = 1 << 16;

static uint64_t widthOf(int32_t type) {
  switch (type) {
  case TensorProto::BOOL:
  case TensorProto::INT8:
  case TensorProto::UINT8:
    return 1;
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
  case TensorProto::INT16:
  case TensorProto::UINT16:
    return 2;
  case TensorProto::DOUBLE:
  case TensorProto::INT64:
  case TensorProto::UINT64:
    return 8;
  default:
    return 4;
  }
}

/// The bytes of the tensor's shape, or at least kMostBytes if they do not fit.
static uint64_t bytesOf(const TensorProto &tensor) {
  uint64_t bytes = widthOf(tensor.data_type());
  for (int64_t dim : tensor.dims())
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(dim), &bytes))
      return kMostBytes + 1;
  return bytes;
}

static void fitData(TensorProto &tensor, Random &random) {
  const uint64_t bytes = bytesOf(tensor);
  if (bytes > kMostBytes || random.oneIn(8))
    return;
  std::string data = tensor.raw_data();
  data.resize(bytes, static_cast<char>(random.below(3)));
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_raw_data(std::move(data));
}

void reshapeTensor(TensorProto &tensor, Random &random) {
  auto &dims = *tensor.mutable_dims();
  switch (dims.empty() ? 0 : random.below(6)) {
  case 0:
    dims.Add(static_cast<int64_t>(random.below(4)));
    break;
  case 1:
    dims.RemoveLast();
    break;
  case 2:
    random.pick(dims) = hostileInt(random);
    break;
  case 3:
    std::reverse(dims.begin(), dims.end());
    break;
  default:
    random.pick(dims) = static_cast<int64_t>(random.below(5));
    break;
  }
  fitData(tensor, random);
}

void retypeTensor(TensorProto &tensor, Random &random) {
  static constexpr int32_t common[] = {
      TensorProto::FLOAT,  TensorProto::DOUBLE, TensorProto::FLOAT16, TensorProto::BFLOAT16,
      TensorProto::INT64,  TensorProto::INT32,  TensorProto::BOOL,    TensorProto::UINT8,
      TensorProto::UINT64, TensorProto::INT8,   TensorProto::UINT16,  TensorProto::STRING};
  tensor.set_data_type(random.oneIn(8) ? static_cast<int32_t>(random.below(30))
                                       : random.pick(common));
  fitData(tensor, random);
}

bool setValue(TensorProto &tensor, Random &random) {
  const uint64_t width = widthOf(tensor.data_type());
  std::string &data = *tensor.mutable_raw_data();
  if (data.empty() && tensor.int64_data_size() != 0)
    return random.pick(*tensor.mutable_int64_data()) = hostileInt(random), true;
  if (data.size() < width)
    return false;
  char *at = data.data() + random.below(data.size() / width) * width;
  if (tensor.data_type() == TensorProto::FLOAT) {
    const auto value = static_cast<float>(hostileFloat(random));
    std::memcpy(at, &value, sizeof(value));
  } else {
    const int64_t value = hostileInt(random);
    std::memcpy(at, &value, width);
  }
  return true;
}

static void addEntry(TensorProto &tensor, const char *key, std::string value) {
  StringStringEntryProto &entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(std::move(value));
}

void moveOutside(TensorProto &tensor, const std::vector<std::string> &words, Random &random) {
  tensor.set_data_location(TensorProto::EXTERNAL);
  tensor.clear_external_data();
  tensor.clear_raw_data();
  addEntry(tensor, "location", random.oneIn(2) ? "weights.bin" : words[random.below(words.size())]);
  if (random.oneIn(2))
    addEntry(tensor, "offset", std::to_string(hostileInt(random)));
  if (random.oneIn(2))
    addEntry(tensor, "length",
             std::to_string(random.oneIn(2) ? static_cast<int64_t>(bytesOf(tensor))
                                            : hostileInt(random)));
  if (random.oneIn(4))
    random.pick(*tensor.mutable_external_data()).set_value(words[random.below(words.size())]);
}

void shrinkWeights(ModelProto &model, const std::string &file) {
  constexpr size_t kSmall = 8192;
  for (TensorProto &tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.data_type() != TensorProto::FLOAT || bytesOf(tensor) <= kSmall)
      continue;
    tensor.clear_raw_data();
    tensor.clear_float_data();
    tensor.clear_external_data();
    tensor.set_data_location(TensorProto::EXTERNAL);
    addEntry(tensor, "location", file);
  }
}

} // namespace zero::fuzz
