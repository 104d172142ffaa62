//===- gguf.cpp - write .gguf files ---------------------------------------===//

#include "runtime/io/gguf.h"

#include "runtime/support/floats.h"

#include <cmath>
#include <cstring>

namespace zero::rt {

static constexpr uint64_t kAlignment = 32, kBlock = 32;

/// Numbers of types, of values and of elements of tensors.
enum ValueType : uint32_t { kString = 8, kArray = 9, kInt32 = 5 };
enum TensorType : uint32_t { kF32 = 0, kF16 = 1, kQ8 = 8, kBF16 = 30 };

template <typename T>
static void append(std::string &bytes, T value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

static void appendText(std::string &bytes, std::string_view text) {
  append(bytes, uint64_t(text.size()));
  bytes += text;
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

void GgufMetadata::begin(std::string_view key, uint32_t type) {
  ++count;
  appendText(written, key);
  append(written, type);
}

void GgufMetadata::beginList(std::string_view key, uint32_t type, uint64_t length) {
  begin(key, kArray);
  append(written, type);
  append(written, length);
}

template <typename T>
void GgufMetadata::add(std::string_view key, uint32_t type, T value) {
  begin(key, type);
  append(written, value);
}
template void GgufMetadata::add(std::string_view, uint32_t, uint32_t);
template void GgufMetadata::add(std::string_view, uint32_t, float);
template void GgufMetadata::add(std::string_view, uint32_t, uint8_t);

void GgufMetadata::set(std::string_view key, std::string_view value) {
  begin(key, kString);
  appendText(written, value);
}

void GgufMetadata::set(std::string_view key, const std::vector<std::string> &values) {
  beginList(key, kString, values.size());
  for (const std::string &value : values)
    appendText(written, value);
}

void GgufMetadata::set(std::string_view key, const std::vector<int32_t> &values) {
  beginList(key, kInt32, values.size());
  for (int32_t value : values)
    append(written, value);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

namespace {
/// A tensor as the file has it.
struct Stored {
  TensorEntry entry;
  TensorType type;
  uint64_t bytes;
};

/// 32 numbers as multiples of a scale.
struct Block {
  uint16_t scale;
  int8_t codes[kBlock];
};
static_assert(sizeof(Block) == kBlock + 2);
} // namespace

static Stored storedOf(const TensorEntry &entry, bool inBlocks) {
  if (inBlocks && entry.shape.size() > 1 && entry.dtype == ZERO_RT_F32) {
    if (entry.shape.back() % kBlock == 0)
      return {entry, kQ8, entry.elements() / kBlock * sizeof(Block)};
    return storedOf(withType(entry, ZERO_RT_F16), false);
  }
  const TensorType type = entry.dtype == ZERO_RT_F16    ? kF16
                          : entry.dtype == ZERO_RT_BF16 ? kBF16
                                                        : kF32;
  return {entry, type, entry.bytes()};
}

/// As quantize_row_q8_0 of llama.cpp.
static Block encode(const float *elements) {
  float most = 0;
  for (uint64_t i = 0; i < kBlock; ++i)
    most = std::max(most, std::fabs(elements[i]));
  const float scale = most / 127, inverse = scale == 0 ? 0 : 1 / scale;
  Block block;
  convertFloats(ZERO_RT_F32, &scale, ZERO_RT_F16, &block.scale, 1);
  for (uint64_t i = 0; i < kBlock; ++i)
    block.codes[i] = int8_t(std::round(elements[i] * inverse));
  return block;
}

static Status writeStored(OutputFile &file, const Stored &tensor) {
  std::vector<uint8_t> buffer;
  std::vector<Block> blocks;
  return tensor.entry.readPieces(
      kTensorPiece, buffer, [&](std::span<const uint8_t> piece, uint64_t) {
        if (tensor.type != kQ8)
          return file.write(piece.data(), piece.size());
        const auto *elements = reinterpret_cast<const float *>(piece.data());
        blocks.clear();
        for (uint64_t i = 0; i < piece.size() / sizeof(float); i += kBlock)
          blocks.push_back(encode(elements + i));
        return file.write(blocks.data(), blocks.size() * sizeof(Block));
      });
}

/// The zeros after `bytes` bytes, up to where a tensor may begin.
static std::string paddingAfter(uint64_t bytes) {
  return std::string((kAlignment - bytes % kAlignment) % kAlignment, '\0');
}

Status writeGguf(OutputFile &file, const GgufMetadata &metadata,
                 const std::vector<TensorEntry> &entries, bool inBlocks) {
  std::string head = "GGUF";
  append(head, uint32_t(3));
  append(head, uint64_t(entries.size()));
  append(head, metadata.size());
  head += metadata.bytes();
  std::vector<Stored> tensors;
  uint64_t offset = 0;
  for (const TensorEntry &entry : entries) {
    const Stored &tensor = tensors.emplace_back(storedOf(entry, inBlocks));
    appendText(head, entry.name);
    append(head, uint32_t(entry.shape.size()));
    for (size_t i = entry.shape.size(); i-- > 0;) // the innermost one first
      append(head, entry.shape[i]);
    append(head, uint32_t(tensor.type));
    append(head, offset);
    offset += tensor.bytes + paddingAfter(tensor.bytes).size();
  }
  ZERO_RT_TRY(file.write(head + paddingAfter(head.size())));
  for (const Stored &tensor : tensors) {
    ZERO_RT_TRY(writeStored(file, tensor));
    ZERO_RT_TRY(file.write(paddingAfter(tensor.bytes)));
  }
  return {};
}

} // namespace zero::rt
