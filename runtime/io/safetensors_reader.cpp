//===- safetensors_reader.cpp - reads weights -----------------------------===//
//
// Eight bytes with the length of a JSON header, the header, and the tensors' bytes.
//
//===----------------------------------------------------------------------===//

#include "runtime/io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

namespace zero::rt {

/// What the format's own reader allows.
static constexpr uint64_t kMaxHeader = 100'000'000;

using google::protobuf::Struct;
using google::protobuf::Value;

static Status bad(const std::string &what) {
  return fail(ZERO_RT_BAD_FILE, "no .safetensors file: %s", what.c_str());
}

static Status badTensor(const std::string &name, const char *what) {
  return bad("tensor '" + escape(name.substr(0, 256)) + "': " + what);
}

/// A whole number that a double holds exactly.
static bool toNumber(const Value &value, uint64_t &number) {
  const double real = value.number_value();
  if (value.kind_case() != Value::kNumberValue || !(real >= 0 && real <= 0x1p53))
    return false;
  number = uint64_t(real);
  return double(number) == real;
}

static bool toNumbers(const Struct &entry, const char *key, std::vector<uint64_t> &numbers) {
  auto it = entry.fields().find(key);
  if (it == entry.fields().end() || it->second.kind_case() != Value::kListValue)
    return false;
  for (const Value &value : it->second.list_value().values())
    if (!toNumber(value, numbers.emplace_back()))
      return false;
  return true;
}

static DType dtypeOf(const Struct &entry) {
  auto it = entry.fields().find("dtype");
  for (int i = 1; sizeOf(DType(i)) > 0; ++i)
    if (it != entry.fields().end() && it->second.string_value() == safetensorsName(DType(i)))
      return DType(i);
  return ZERO_RT_NO_DTYPE;
}

static Status parseTensor(const std::string &name, const Value &value,
                          std::span<const uint8_t> data, Array &array) {
  const Struct &entry = value.struct_value();
  std::vector<uint64_t> range;
  if (value.kind_case() != Value::kStructValue || !toNumbers(entry, "shape", array.shape) ||
      !toNumbers(entry, "data_offsets", range) || range.size() != 2)
    return badTensor(name, "its entry has no dtype, shape and two data_offsets");
  array.dtype = dtypeOf(entry);
  if (array.dtype == ZERO_RT_NO_DTYPE)
    return badTensor(name, "its element type is not supported");
  uint64_t count = 0, bytes = 0;
  if (!countElements(array.shape, count) ||
      __builtin_mul_overflow(count, sizeOf(array.dtype), &bytes))
    return badTensor(name, "its shape is too large");
  if (range[0] > range[1] || range[1] > data.size())
    return badTensor(name, "its bytes lie outside the file");
  if (range[1] - range[0] != bytes)
    return badTensor(name, "its range of bytes does not fit its shape");
  array.bytes = data.subspan(range[0], bytes);
  return {};
}

/// In the order of the file, tensors follow each other without a gap or an overlap.
static Status checkRanges(const std::map<std::string, Array> &tensors,
                          std::span<const uint8_t> data) {
  std::vector<std::span<const uint8_t>> ranges;
  for (const auto &[name, array] : tensors)
    ranges.push_back(array.bytes);
  std::sort(ranges.begin(), ranges.end(), [](auto left, auto right) {
    return left.data() != right.data() ? left.data() < right.data() : left.size() < right.size();
  });
  const uint8_t *end = data.data();
  for (auto range : ranges) {
    if (range.data() != end)
      return bad("its tensors overlap or leave gaps");
    end += range.size();
  }
  return end == data.data() + data.size() ? Status()
                                          : bad("bytes behind the last tensor belong to none");
}

Status parseSafetensors(std::span<const uint8_t> file, std::map<std::string, Array> &tensors) {
  uint64_t length = 0;
  if (file.size() < sizeof(length))
    return bad("it is too short");
  std::memcpy(&length, file.data(), sizeof(length));
  if (length > kMaxHeader || length > file.size() - sizeof(length))
    return bad("its header would take " + std::to_string(length) + " bytes");
  Struct header;
  google::protobuf::StringPiece text(reinterpret_cast<const char *>(file.data()) + sizeof(length),
                                     length);
  if (!google::protobuf::util::JsonStringToMessage(text, &header).ok())
    return bad("its header is no JSON object");
  const auto data = file.subspan(sizeof(length) + length);
  for (const auto &[name, value] : header.fields())
    if (name != "__metadata__")
      ZERO_RT_TRY(parseTensor(name, value, data, tensors[name]));
  return checkRanges(tensors, data);
}

} // namespace zero::rt
