//===- safetensors.cpp - write .safetensors files -------------------------===//

#include "runtime/io/safetensors.h"

#include "runtime/support/json_writer.h"

#include <algorithm>
#include <utility>

namespace zero::rt {

static constexpr char kMetadata[] = "__metadata__";

std::string safetensorsHeader(const std::vector<TensorEntry> &entries,
                              const std::map<std::string, std::string> &metadata) {
  JsonWriter json(JsonWriter::Compact);
  uint64_t offset = 0;
  json.object([&] {
    if (!metadata.empty())
      json.key(kMetadata).object([&] {
        for (const auto &[key, value] : metadata)
          json.member(key, value);
      });
    for (const TensorEntry &entry : entries) {
      const uint64_t begin = std::exchange(offset, offset + entry.bytes());
      json.key(entry.name).object([&] {
        json.member("dtype", safetensorsName(entry.dtype));
        json.key("shape").array([&] {
          for (uint64_t dim : entry.shape)
            json.value(dim);
        });
        json.key("data_offsets").array([&] {
          json.value(begin);
          json.value(offset);
        });
      });
    }
  });
  std::string header = json.take();
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof(length)) + header;
}

Status checkSafetensorsNames(const std::vector<TensorEntry> &entries) {
  const bool isReserved = std::any_of(entries.begin(), entries.end(), [](const TensorEntry &entry) {
    return entry.name == kMetadata;
  });
  return isReserved ? fail(ZERO_RT_INVALID_ARGUMENT,
                           "the model has a tensor '%s', a name that .safetensors reserves; rename "
                           "it, or write an .onnx file",
                           kMetadata)
                    : Status();
}

Status writeSafetensors(OutputFile &file, std::vector<TensorEntry> entries,
                        const std::map<std::string, std::string> &metadata) {
  ZERO_RT_TRY(checkSafetensorsNames(entries));
  std::sort(entries.begin(), entries.end(), [](const auto &left, const auto &right) {
    size_t a = sizeOf(left.dtype), b = sizeOf(right.dtype);
    return a != b ? a > b : left.name < right.name;
  });
  ZERO_RT_TRY(file.write(safetensorsHeader(entries, metadata)));
  auto write = [&](std::span<const uint8_t> piece, uint64_t) {
    return file.write(piece.data(), piece.size());
  };
  std::vector<uint8_t> buffer;
  for (const TensorEntry &entry : entries)
    ZERO_RT_TRY(entry.readPieces(kTensorPiece, buffer, write));
  return {};
}

} // namespace zero::rt
