//===- document_rows.cpp - rows of tokenized documents --------------------===//

#include "runtime/io/document_rows.h"

#include "runtime/io/data_source.h"

#include <algorithm>

namespace zero::rt {

using Number = unsigned long long;

/// Labels that the loss ignores, as PyTorch and ONNX have it.
static constexpr int64_t kIgnored = -100;
/// Documents that are packed together; neighbours in a file are in rows that are read together.
static constexpr uint64_t kWindow = 10'000;

//===----------------------------------------------------------------------===//
// Rows of a folder
//===----------------------------------------------------------------------===//

Status DocumentRows::open(const std::string &folder, uint64_t width, Packing packing,
                          std::shared_ptr<const DocumentRows> &rows) {
  auto made = std::make_shared<DocumentRows>();
  ZERO_RT_TRY(Documents::open(folder, made->all));
  made->from = folder;
  made->length = width;
  made->how = packing;
  if (packing == Packing::Documents)
    made->packed = packDocuments(
        made->all.size(), [&](uint64_t i) { return made->all.length(i); }, width, kWindow);
  rows = std::move(made);
  return {};
}

uint64_t DocumentRows::size() const {
  if (how == Packing::Documents)
    return packed.size();
  return how == Packing::Off ? all.size() : (all.tokens() + length - 1) / length;
}

uint64_t DocumentRows::tokens() const {
  if (how == Packing::Stream)
    return all.tokens();
  uint64_t count = 0;
  for (uint64_t i = 0; i < all.size(); ++i)
    count += std::min(all.length(i), length);
  return count;
}

uint64_t DocumentRows::tokensIn(uint64_t row) const {
  uint64_t count = 0;
  forEachPiece(row, [&](const Piece &piece) { count += piece.end - piece.begin; });
  return count;
}

uint64_t DocumentRows::countLonger(uint64_t tokens) const {
  uint64_t longer = 0;
  for (uint64_t i = 0; i < all.size() && how != Packing::Stream; ++i)
    longer += all.length(i) > tokens;
  return longer;
}

DocumentRows::Piece DocumentRows::beginningOf(uint64_t document) const {
  const uint64_t begin = all.begin(document), end = all.end(document);
  return {begin, std::min(end, begin + length), end};
}

template <typename Visit>
void DocumentRows::forEachPiece(uint64_t row, Visit visit) const {
  if (how == Packing::Off)
    return visit(beginningOf(row));
  if (how == Packing::Documents) {
    for (uint64_t i = packed.begins[row]; i < packed.begins[row + 1]; ++i)
      visit(beginningOf(packed.documents[i]));
    return;
  }
  const uint64_t rowEnd = std::min((row + 1) * length, all.tokens());
  uint64_t token = row * length;
  for (uint64_t document = all.documentOf(token); token < rowEnd; ++document) {
    const uint64_t end = std::min(all.end(document), rowEnd);
    visit(Piece{token, end, all.end(document)});
    token = end;
  }
}

Status OpenDocuments::open(const std::string &folder, uint64_t width, Packing packing,
                           std::shared_ptr<const DocumentRows> &rows) {
  for (const std::shared_ptr<const DocumentRows> &each : opened)
    if (each->folder() == folder && each->width() == width && each->packing() == packing) {
      rows = each;
      return {};
    }
  ZERO_RT_TRY(DocumentRows::open(folder, width, packing, rows));
  opened.push_back(rows);
  return {};
}

//===----------------------------------------------------------------------===//
// Parts of inputs
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

Status DocumentInput::choosePart(const InputSpec &spec, const ArrayFile &file) {
  const std::string input = escape(spec.name), folder = escape(file.path);
  const auto *named = std::ranges::find(kParts, file.member, [](auto &each) { return each.name; });
  if (file.member.empty())
    part = partNamedLike(spec.name);
  else if (named != std::end(kParts))
    part = named->part;
  else
    return fail(ZERO_RT_NOT_FOUND,
                "input '%s': expected ids, labels, mask or positions of '%s', got '%s'",
                input.c_str(), folder.c_str(), escape(file.member).c_str());
  const bool mayShift = part == DocumentPart::Labels && !file.member.empty();
  if (file.skip > (mayShift ? 1 : 0))
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "input '%s': expected '%s:labels' or '%s:labels+1', got +%llu", input.c_str(),
                folder.c_str(), folder.c_str(), Number(file.skip));
  return {};
}

Status DocumentInput::checkType(const InputSpec &spec, const ArrayFile &file) const {
  const bool isInteger = dtype == ZERO_RT_I64 || dtype == ZERO_RT_I32;
  const bool isMask = part == DocumentPart::Mask && (dtype == ZERO_RT_BOOL || dtype == ZERO_RT_F32);
  if (file.raw != ZERO_RT_NO_DTYPE)
    return fail(ZERO_RT_INVALID_ARGUMENT, "input '%s': '%s' is a folder, and takes no element type",
                escape(spec.name).c_str(), escape(file.path).c_str());
  bool isMatrix = true;
  for (size_t i = 0; i < spec.shapes(); ++i)
    isMatrix = isMatrix && spec.shapeAt(i).size() == 2 && spec.shapeAt(i)[1] > 0;
  if (!isMatrix || (!isInteger && !isMask))
    return fail(ZERO_RT_BAD_DATA,
                "input '%s': the documents of '%s' are for integers of shape [batch, sequence], "
                "expected %s",
                escape(spec.name).c_str(), escape(file.path).c_str(), spec.text().c_str());
  return {};
}

Status DocumentInput::checkIds(const InputSpec &spec) const {
  const std::string input = escape(spec.name), folder = escape(source->folder());
  const Documents &documents = source->documents();
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

Status DocumentInput::open(const InputSpec &spec, const ArrayFile &file, Packing packing,
                           OpenDocuments &opened, std::shared_ptr<const DocumentInput> &input) {
  auto made = std::make_shared<DocumentInput>();
  made->dtype = spec.dtype;
  const auto ofInput = [&](const Status &status) {
    return status.ok() ? status
                       : fail(status.getCode(), "input '%s': %s", escape(spec.name).c_str(),
                              status.getMessage().c_str());
  };
  Documents documents; // whether it is such a folder at all
  ZERO_RT_TRY(ofInput(Documents::openManifest(file.path, documents)));
  ZERO_RT_TRY(made->choosePart(spec, file));
  ZERO_RT_TRY(made->checkType(spec, file));
  for (size_t i = 0; i < spec.shapes(); ++i)
    made->widths.push_back(spec.shapeAt(i)[1]);
  ZERO_RT_TRY(ofInput(
      opened.open(file.path, *std::ranges::max_element(made->widths), packing, made->source)));
  ZERO_RT_TRY(made->checkIds(spec));
  if (made->part == DocumentPart::Labels)
    made->shift = file.member.empty() ? made->source->documents().areLabelsShifted() : file.skip;
  input = std::move(made);
  return {};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

int64_t DocumentInput::valueOf(const DocumentRows::Piece &piece, uint64_t column) const {
  const Documents &documents = source->documents();
  const uint64_t token = piece.begin + column + shift;
  switch (part) {
  case DocumentPart::Ids:
    return documents.id(token);
  case DocumentPart::Labels:
    return token < piece.documentEnd && documents.isTrained(token) ? documents.id(token) : kIgnored;
  case DocumentPart::Mask:
    return 1;
  case DocumentPart::Positions:
    return static_cast<int64_t>(column);
  }
  return kIgnored;
}

/// The value behind the documents of a row. A program that reads positions takes each 0 for the
/// beginning of a document, so that no token attends to padding of a packed row.
int64_t DocumentInput::valueBehind(uint64_t column) const {
  switch (part) {
  case DocumentPart::Ids:
    return source->documents().padId();
  case DocumentPart::Labels:
    return kIgnored;
  case DocumentPart::Mask:
    return 0;
  case DocumentPart::Positions:
    return source->packing() == Packing::Off ? static_cast<int64_t>(column) : 0;
  }
  return kIgnored;
}

template <typename T>
void DocumentInput::writeRow(uint64_t row, std::span<T> destination) const {
  size_t written = 0;
  source->forEachPiece(row, [&](const DocumentRows::Piece &piece) {
    const uint64_t length = piece.end - piece.begin;
    for (uint64_t column = 0; column < length && written < destination.size(); ++column)
      destination[written++] = static_cast<T>(valueOf(piece, column));
  });
  for (; written < destination.size(); ++written)
    destination[written] = static_cast<T>(valueBehind(written));
}

template <typename T>
void DocumentInput::write(uint64_t row, uint64_t count, uint64_t width, T *destination) const {
  for (uint64_t i = 0; i < count; ++i, destination += width)
    writeRow((row + i) % source->size(), std::span(destination, width));
}

void DocumentInput::read(uint64_t row, uint64_t count, size_t shape, void *destination) const {
  const uint64_t width = widths[shape];
  if (dtype == ZERO_RT_I64)
    write(row, count, width, static_cast<int64_t *>(destination));
  else if (dtype == ZERO_RT_I32)
    write(row, count, width, static_cast<int32_t *>(destination));
  else if (dtype == ZERO_RT_F32)
    write(row, count, width, static_cast<float *>(destination));
  else
    write(row, count, width, static_cast<uint8_t *>(destination));
}

std::string DocumentInput::remark() const {
  const uint64_t longer = source->countLonger(source->width() + shift);
  if (longer == 0)
    return {};
  return format("%llu of %llu documents in '%s' are longer than a row of %llu tokens: their ends "
                "are not read",
                Number(longer), Number(source->documents().size()),
                escape(source->folder()).c_str(), Number(source->width()));
}

} // namespace zero::rt
