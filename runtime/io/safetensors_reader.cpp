//===- safetensors_reader.cpp - read .safetensors files -------------------===//
//
// Eight bytes with the length of a JSON header, the header, and the tensors' bytes.
//
//===----------------------------------------------------------------------===//

#include "runtime/io/safetensors.h"

#include "runtime/support/checked.h"
#include "runtime/support/json_reader.h"

#include <algorithm>
#include <cstring>

namespace zero::rt {

/// The limit of the format's own reader.
static constexpr uint64_t kMaxHeader = 100'000'000;
/// The limit of a model's nodes. A tensor takes some hundred bytes here.
static constexpr size_t kMaxTensors = 1'000'000;
/// The limit of NumPy.
static constexpr size_t kMaxRank = 64;

static Status bad(const std::string &what) {
  return fail(ZERO_RT_BAD_FILE, "no .safetensors file: %s", what.c_str());
}

static Status badTensor(const std::string &name, const char *what) {
  return bad("tensor '" + escape(name.substr(0, 256)) + "': " + what);
}

namespace {
/// A tensor as the header has it. What is not set is missing there.
struct Entry {
  std::string dtype;
  std::vector<uint64_t> shape, range;
  bool hasDtype = false, hasShape = false, hasRange = false;
};

/// Reads the header and stores its errors.
class HeaderReader {
public:
  HeaderReader(std::string_view text, std::span<const uint8_t> data,
               std::map<std::string, Array> &tensors)
      : json(text), data(data), tensors(tensors) {}

  Status read() {
    const bool isObject = json.takeObject([&](const std::string &name) {
      return name == "__metadata__" ? json.skipValue(JsonReader::kDeepest - 1) : readTensor(name);
    });
    if (!status.ok() || (isObject && json.isAtEnd()))
      return status;
    return bad("its header is no JSON object of at most " + std::to_string(JsonReader::kDeepest) +
               " levels, from byte " + std::to_string(json.position()) + " on");
  }

private:
  /// Stores the error of tensor `name`.
  bool refuse(const std::string &name, const char *what) {
    status = badTensor(name, what);
    return false;
  }

  /// Reads at most `most` integers. A longer list is an error that names its length.
  bool takeNumbers(std::vector<uint64_t> &numbers, size_t most) {
    return json.takeList(
        [&] { return numbers.size() <= most && json.takeInteger(numbers.emplace_back()); });
  }

  bool readEntry(Entry &entry) {
    return json.takeObject([&](const std::string &key) {
      if (key == "dtype" && !std::exchange(entry.hasDtype, true))
        return json.takeString(entry.dtype);
      if (key == "shape" && !std::exchange(entry.hasShape, true))
        return takeNumbers(entry.shape, kMaxRank);
      if (key == "data_offsets" && !std::exchange(entry.hasRange, true))
        return takeNumbers(entry.range, 2);
      return key != "dtype" && key != "shape" && key != "data_offsets" &&
             json.skipValue(JsonReader::kDeepest - 2);
    });
  }

  bool readTensor(const std::string &name) {
    Entry entry;
    if (tensors.size() >= kMaxTensors) {
      status = bad("it has more than " + std::to_string(kMaxTensors) + " tensors");
      return false;
    }
    auto [it, isNew] = tensors.try_emplace(name);
    if (!isNew)
      return refuse(name, "it occurs twice");
    if (!readEntry(entry))
      return refuse(name, "its entry is no JSON object with whole numbers in lists");
    if (!entry.hasDtype || !entry.hasShape || entry.range.size() != 2)
      return refuse(name, "its entry has no dtype, shape and two data_offsets");
    if (entry.shape.size() > kMaxRank)
      return refuse(name, "its shape has more than 64 dimensions");
    status = place(name, entry, it->second);
    return status.ok();
  }

  Status place(const std::string &name, Entry &entry, Array &array);

  JsonReader json;
  std::span<const uint8_t> data;
  std::map<std::string, Array> &tensors;
  Status status;
};
} // namespace

static DType dtypeOf(const std::string &name) {
  for (int i = 1; sizeOf(DType(i)) > 0; ++i)
    if (name == safetensorsName(DType(i)))
      return DType(i);
  return ZERO_RT_NO_DTYPE;
}

Status HeaderReader::place(const std::string &name, Entry &entry, Array &array) {
  array.dtype = dtypeOf(entry.dtype);
  if (array.dtype == ZERO_RT_NO_DTYPE)
    return badTensor(name, "its element type is not supported");
  uint64_t bytes = 0;
  if (!countBytes(entry.shape, array.dtype, bytes))
    return badTensor(name, "its shape is too large");
  const uint64_t begin = entry.range[0], end = entry.range[1];
  if (begin > end || end > data.size())
    return badTensor(name, "its bytes lie outside the file");
  if (end - begin != bytes)
    return badTensor(name, "its range of bytes does not fit its shape");
  array.shape = std::move(entry.shape);
  array.bytes = data.subspan(begin, bytes);
  return {};
}

/// In the order of the file, tensors must be contiguous: no gap and no overlap.
static Status checkRanges(const std::map<std::string, Array> &tensors,
                          std::span<const uint8_t> data) {
  std::vector<std::span<const uint8_t>> ranges;
  ranges.reserve(tensors.size());
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
                                          : bad("bytes after the last tensor belong to no tensor");
}

Status parseSafetensors(std::span<const uint8_t> file, std::map<std::string, Array> &tensors) {
  uint64_t length = 0;
  if (file.size() < sizeof(length))
    return bad("it is too short");
  std::memcpy(&length, file.data(), sizeof(length));
  if (length > kMaxHeader || length > file.size() - sizeof(length))
    return bad("its header would take " + std::to_string(length) + " bytes");
  const auto data = file.subspan(sizeof(length) + length);
  const std::string_view text(reinterpret_cast<const char *>(file.data()) + sizeof(length), length);
  ZERO_RT_TRY(HeaderReader(text, data, tensors).read());
  return checkRanges(tensors, data);
}

} // namespace zero::rt
