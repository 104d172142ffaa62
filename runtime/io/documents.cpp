//===- documents.cpp - folders of tokenized documents ---------------------===//

#include "runtime/io/documents.h"

#include "runtime/io/data_source.h"
#include "runtime/support/json_reader.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace zero::rt {

using Number = unsigned long long;

/// Labels that the loss ignores, as PyTorch and ONNX have it.
static constexpr int64_t kIgnored = -100;
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

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

uint64_t Documents::begin(uint64_t document) const {
  uint64_t start;
  std::memcpy(&start, starts.bytes().data() + document * sizeof start, sizeof start);
  return start;
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
           : key == "tokens"     ? reader.takeInteger(tokens)
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
      tokens >= kMost || pad > UINT32_MAX)
    return fail(ZERO_RT_BAD_FILE, "'%s' is damaged; tokenize again", escape(path).c_str());
  return {};
}

Status Documents::mapAll(const std::string &folder) {
  const struct {
    const char *name;
    uint64_t bytes;
    MappedFile *file;
  } files[] = {{"ids.bin", tokens * (isWide ? 4 : 2), &ids},
               {"starts.bin", (count + 1) * 8, &starts},
               {"mask.bin", tokens, &mask}};
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
  bool isOrdered = documents.begin(0) == 0 && documents.begin(documents.count) == documents.tokens;
  for (uint64_t i = 0; i < documents.count && isOrdered; ++i)
    isOrdered = documents.begin(i) <= documents.end(i);
  return isOrdered ? Status()
                   : fail(ZERO_RT_BAD_FILE, "'%s': the starts of the documents are out of order",
                          escape(inFolder(folder, "starts.bin")).c_str());
}

//===----------------------------------------------------------------------===//
// Rows of an input
//===----------------------------------------------------------------------===//

static bool contains(const std::string &text, std::initializer_list<const char *> words) {
  return std::ranges::any_of(words, [&](auto word) { return text.find(word) != text.npos; });
}

/// The parts by their names in --data=NAME=FOLDER:PART.
static constexpr struct {
  std::string_view name;
  DocumentPart part;
} kParts[] = {{"ids", DocumentPart::Ids},
              {"labels", DocumentPart::Labels},
              {"mask", DocumentPart::Mask},
              {"positions", DocumentPart::Positions}};

static DocumentPart partNamedLike(std::string input) {
  std::ranges::transform(input, input.begin(), ::tolower);
  if (contains(input, {"label", "target"}) || input == "y")
    return DocumentPart::Labels;
  if (contains(input, {"mask"}))
    return DocumentPart::Mask;
  return contains(input, {"position"}) ? DocumentPart::Positions : DocumentPart::Ids;
}

Status describeDocumentPart(const std::string &folder, const std::string &input,
                            std::string &text) {
  Documents documents;
  ZERO_RT_TRY(Documents::openManifest(folder, documents));
  const DocumentPart part = partNamedLike(input);
  for (const auto &[name, named] : kParts)
    if (named == part)
      text = name;
  if (part == DocumentPart::Labels && documents.areLabelsShifted())
    text += "+1";
  return {};
}

Status DocumentRows::choosePart(const InputSpec &spec, const ArrayFile &file) {
  const auto *named = std::ranges::find(kParts, file.member, [](auto &each) { return each.name; });
  if (file.member.empty())
    part = partNamedLike(spec.name);
  else if (named != std::end(kParts))
    part = named->part;
  else
    return fail(ZERO_RT_NOT_FOUND,
                "input '%s': expected ids, labels, mask or positions of '%s', got '%s'",
                escape(spec.name).c_str(), escape(from).c_str(), escape(file.member).c_str());
  const bool mayShift = part == DocumentPart::Labels && !file.member.empty();
  if (file.skip > (mayShift ? 1 : 0))
    return fail(
        ZERO_RT_INVALID_ARGUMENT, "input '%s': expected '%s:labels' or '%s:labels+1', got +%llu",
        escape(spec.name).c_str(), escape(from).c_str(), escape(from).c_str(), Number(file.skip));
  if (part == DocumentPart::Labels)
    shift = file.member.empty() ? documents.areLabelsShifted() : file.skip;
  return {};
}

Status DocumentRows::checkInput(const InputSpec &spec) const {
  const std::string input = escape(spec.name), folder = escape(from);
  const bool isInteger = dtype == ZERO_RT_I64 || dtype == ZERO_RT_I32;
  const bool isMask = part == DocumentPart::Mask && (dtype == ZERO_RT_BOOL || dtype == ZERO_RT_F32);
  if (spec.shape.size() != 2 || (!isInteger && !isMask))
    return fail(ZERO_RT_BAD_DATA,
                "input '%s': the documents of '%s' are for integers of shape [batch, sequence], "
                "expected %s",
                input.c_str(), folder.c_str(), spec.text().c_str());
  if (documents.size() == 0)
    return fail(ZERO_RT_BAD_DATA, "input '%s': '%s' has no documents", input.c_str(),
                folder.c_str());
  const uint64_t largest = std::max(documents.largestId(), documents.padId());
  if (part == DocumentPart::Ids && spec.vocabulary && largest >= spec.vocabulary)
    return fail(ZERO_RT_BAD_DATA,
                "input '%s': the model has %llu token ids, '%s' has the id %llu; use the model's "
                "own tokenizer",
                input.c_str(), Number(spec.vocabulary), folder.c_str(), Number(largest));
  return {};
}

Status DocumentRows::open(const InputSpec &spec, const ArrayFile &file,
                          std::shared_ptr<const DocumentRows> &rows) {
  auto made = std::make_shared<DocumentRows>();
  made->from = file.path;
  made->dtype = spec.dtype;
  if (file.raw != ZERO_RT_NO_DTYPE)
    return fail(ZERO_RT_INVALID_ARGUMENT, "input '%s': '%s' is a folder, and takes no element type",
                escape(spec.name).c_str(), escape(file.path).c_str());
  if (Status status = Documents::open(file.path, made->documents); !status.ok())
    return fail(status.getCode(), "input '%s': %s", escape(spec.name).c_str(),
                status.getMessage().c_str());
  ZERO_RT_TRY(made->choosePart(spec, file));
  ZERO_RT_TRY(made->checkInput(spec));
  made->width = spec.shape[1];
  rows = std::move(made);
  return {};
}

int64_t DocumentRows::valueAt(uint64_t begin, uint64_t end, uint64_t column) const {
  const uint64_t token = begin + column + shift;
  const bool isInside = token < end;
  switch (part) {
  case DocumentPart::Ids:
    return isInside ? documents.id(token) : documents.padId();
  case DocumentPart::Labels:
    return isInside && documents.isTrained(token) ? documents.id(token) : kIgnored;
  case DocumentPart::Mask:
    return isInside;
  case DocumentPart::Positions:
    return static_cast<int64_t>(column);
  }
  return kIgnored;
}

template <typename T>
void DocumentRows::write(uint64_t row, uint64_t count, T *destination) const {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t document = (row + i) % size();
    const uint64_t begin = documents.begin(document), end = documents.end(document);
    for (uint64_t column = 0; column < width; ++column)
      *destination++ = static_cast<T>(valueAt(begin, end, column));
  }
}

void DocumentRows::read(uint64_t row, uint64_t count, void *destination) const {
  if (dtype == ZERO_RT_I64)
    write(row, count, static_cast<int64_t *>(destination));
  else if (dtype == ZERO_RT_I32)
    write(row, count, static_cast<int32_t *>(destination));
  else if (dtype == ZERO_RT_F32)
    write(row, count, static_cast<float *>(destination));
  else
    write(row, count, static_cast<uint8_t *>(destination));
}

std::string DocumentRows::remark() const {
  uint64_t longer = 0;
  for (uint64_t i = 0; i < size(); ++i)
    longer += documents.end(i) - documents.begin(i) > width + shift;
  if (longer == 0)
    return {};
  return format("%llu of %llu documents in '%s' are longer than a row of %llu tokens: their ends "
                "are not read",
                Number(longer), Number(size()), escape(from).c_str(), Number(width));
}

} // namespace zero::rt
