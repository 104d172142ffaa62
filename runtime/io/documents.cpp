//===- documents.cpp - folders of tokenized documents ---------------------===//

#include "runtime/io/documents.h"

#include "runtime/support/json_reader.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace zero::rt {

using Number = unsigned long long;

static constexpr uint64_t kVersion = 1;

bool isDocumentFolder(const std::string &path) {
  std::error_code none;
  return std::filesystem::is_directory(path, none);
}

static std::string inFolder(const std::string &folder, const char *name) {
  return folder + (folder.ends_with('/') ? "" : "/") + name;
}

std::vector<std::string> documentFiles(const std::string &folder) {
  return {inFolder(folder, "tokens.json"), inFolder(folder, "ids.bin"),
          inFolder(folder, "starts.bin"), inFolder(folder, "mask.bin")};
}

std::vector<std::string> documentShards(const std::string &folder) {
  std::vector<std::string> shards;
  std::error_code error;
  if (std::filesystem::exists(documentFiles(folder).front(), error))
    return shards;
  for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error))
    if (std::filesystem::exists(documentFiles(each->path().string()).front(), error))
      shards.push_back(each->path().string());
  std::ranges::sort(shards);
  return shards;
}

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

uint64_t Documents::begin(uint64_t document) const {
  uint64_t start;
  std::memcpy(&start, starts.bytes().data() + document * sizeof start, sizeof start);
  return start;
}

uint64_t Documents::documentOf(uint64_t token) const {
  uint64_t low = 0, high = count; // the document is in [low, high)
  while (low + 1 < high) {
    const uint64_t middle = low + (high - low) / 2;
    (begin(middle) <= token ? low : high) = middle;
  }
  return low;
}

uint32_t Documents::id(uint64_t token) const {
  if (isWide) {
    uint32_t id;
    std::memcpy(&id, ids.bytes().data() + token * sizeof id, sizeof id);
    return id;
  }
  uint16_t id;
  std::memcpy(&id, ids.bytes().data() + token * sizeof id, sizeof id);
  return id;
}

Status Documents::readManifest(const std::string &path) {
  MappedFile file;
  if (Status status = MappedFile::open(path, file); !status.ok())
    return fail(
        status.getCode(),
        "'%s' is a folder, but not one of tokens: %s; `python -m zero tokenize` writes such "
        "folders, and completes one when the same command is run again",
        escape(path.substr(0, path.rfind('/'))).c_str(), status.getMessage().c_str());
  const auto bytes = file.bytes();
  JsonReader reader({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  std::string format, type, labels;
  uint64_t version = 0;
  const bool isRead = reader.takeObject([&](const std::string &key) {
    return key == "format"       ? reader.takeString(format)
           : key == "version"    ? reader.takeInteger(version)
           : key == "documents"  ? reader.takeInteger(count)
           : key == "tokens"     ? reader.takeInteger(total)
           : key == "largest_id" ? reader.takeInteger(largest)
           : key == "pad_id"     ? reader.takeInteger(pad)
           : key == "id_type"    ? reader.takeString(type)
           : key == "labels"     ? reader.takeString(labels)
                                 : reader.skipValue();
  });
  if (!isRead || format != "zero-tokens")
    return fail(ZERO_RT_BAD_FILE, "'%s' is no manifest of tokens", escape(path).c_str());
  if (version != kVersion)
    return fail(ZERO_RT_UNSUPPORTED, "'%s' has version %llu, expected %llu; tokenize again",
                escape(path).c_str(), Number(version), Number(kVersion));
  isWide = type == "uint32";
  shifted = labels == "shifted";
  constexpr uint64_t kMost = uint64_t(1) << 48; // no size below overflows
  if ((!isWide && type != "uint16") || (!shifted && labels != "same") || count >= kMost ||
      total >= kMost || pad > UINT32_MAX)
    return fail(ZERO_RT_BAD_FILE, "'%s' is damaged; tokenize again", escape(path).c_str());
  return {};
}

Status Documents::mapAll(const std::string &folder) {
  const struct {
    const char *name;
    uint64_t bytes;
    MappedFile *file;
  } files[] = {{"ids.bin", total * (isWide ? 4 : 2), &ids},
               {"starts.bin", (count + 1) * 8, &starts},
               {"mask.bin", total, &mask}};
  for (const auto &[name, bytes, file] : files) {
    const std::string path = inFolder(folder, name);
    ZERO_RT_TRY(MappedFile::open(path, *file));
    if (file->bytes().size() != bytes)
      return fail(ZERO_RT_BAD_FILE, "'%s' has %llu bytes, expected %llu; tokenize again",
                  escape(path).c_str(), Number(file->bytes().size()), Number(bytes));
  }
  return {};
}

Status Documents::openManifest(const std::string &folder, Documents &documents) {
  return documents.readManifest(inFolder(folder, "tokens.json"));
}

Status Documents::open(const std::string &folder, Documents &documents) {
  ZERO_RT_TRY(openManifest(folder, documents));
  ZERO_RT_TRY(documents.mapAll(folder));
  bool isOrdered = documents.begin(0) == 0 && documents.begin(documents.count) == documents.total;
  for (uint64_t i = 0; i < documents.count && isOrdered; ++i)
    isOrdered = documents.begin(i) <= documents.end(i);
  return isOrdered ? Status()
                   : fail(ZERO_RT_BAD_FILE, "'%s': the starts of the documents are out of order",
                          escape(inFolder(folder, "starts.bin")).c_str());
}

} // namespace zero::rt
