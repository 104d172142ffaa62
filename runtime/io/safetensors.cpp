//===- safetensors.cpp - writes weights -----------------------------------===//

#include "runtime/io/safetensors.h"

#include <algorithm>

namespace zero::rt {

static std::string metadataText(const std::map<std::string, std::string> &metadata) {
  std::string text;
  for (const auto &[key, value] : metadata)
    text += format("%s\"%s\":\"%s\"", text.empty() ? "" : ",", escape(key).c_str(),
                   escape(value).c_str());
  return text.empty() ? "" : "\"__metadata__\":{" + text + "}";
}

std::string safetensorsHeader(const std::vector<TensorEntry> &entries,
                              const std::map<std::string, std::string> &metadata) {
  std::string header = "{" + metadataText(metadata);
  uint64_t offset = 0;
  for (const TensorEntry &entry : entries) {
    std::string shape;
    for (uint64_t dim : entry.shape)
      shape += (shape.empty() ? "" : ",") + std::to_string(dim);
    uint64_t end = offset + entry.bytes();
    header += format("%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%llu,%llu]}",
                     header.size() > 1 ? "," : "", escape(entry.name).c_str(),
                     safetensorsName(entry.dtype), shape.c_str(),
                     static_cast<unsigned long long>(offset), static_cast<unsigned long long>(end));
    offset = end;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof(length)) + header;
}

Status writeSafetensors(OutputFile &file, std::vector<TensorEntry> entries) {
  std::sort(entries.begin(), entries.end(), [](const auto &left, const auto &right) {
    size_t a = sizeOf(left.dtype), b = sizeOf(right.dtype);
    return a != b ? a > b : left.name < right.name;
  });
  ZERO_RT_TRY(file.write(safetensorsHeader(entries)));
  std::vector<uint8_t> bytes;
  for (const TensorEntry &entry : entries) {
    bytes.resize(entry.bytes());
    ZERO_RT_TRY(entry.read(bytes.data(), bytes.size()));
    ZERO_RT_TRY(file.write(bytes.data(), bytes.size()));
  }
  return {};
}

} // namespace zero::rt
