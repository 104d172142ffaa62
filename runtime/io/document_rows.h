//===- document_rows.h - rows of tokenized documents ------------*- C++ -*-===//

#ifndef RUNTIME_IO_DOCUMENT_ROWS_H
#define RUNTIME_IO_DOCUMENT_ROWS_H

#include "runtime/io/documents.h"
#include "runtime/io/packing.h"

namespace zero::rt {

struct InputSpec;

/// Which documents share a row: none; several whole ones; or all, one behind the other, cut where
/// a row ends.
enum class Packing { Off, Documents, Stream };

/// The documents of a folder in rows of one length. Without packing, row i is document i.
class DocumentRows {
public:
  static Status open(const std::string &folder, uint64_t width, Packing packing,
                     std::shared_ptr<const DocumentRows> &rows);

  const Documents &documents() const { return all; }
  const std::string &folder() const { return from; }
  uint64_t width() const { return length; }
  Packing packing() const { return how; }
  uint64_t size() const;
  /// Tokens of documents in all rows.
  uint64_t tokens() const;
  /// Tokens of documents in `row`.
  uint64_t tokensIn(uint64_t row) const;
  /// Documents that have more than `tokens` in a row that they do not share.
  uint64_t countLonger(uint64_t tokens) const;

  /// Tokens [begin, end) of a document, which ends at `documentEnd`.
  struct Piece {
    uint64_t begin, end, documentEnd;
  };
  /// Calls visit(piece) for what `row` has of each of its documents.
  template <typename Visit>
  void forEachPiece(uint64_t row, Visit visit) const;

private:
  Piece beginningOf(uint64_t document) const;

  Documents all;
  std::string from;
  uint64_t length = 0;
  Packing how = Packing::Off;
  PackedRows packed; ///< of Packing::Documents
};

/// Rows that are open, for inputs that read other parts of the same.
class OpenDocuments {
public:
  Status open(const std::string &folder, uint64_t width, Packing packing,
              std::shared_ptr<const DocumentRows> &rows);

private:
  std::vector<std::shared_ptr<const DocumentRows>> opened;
};

/// What an input reads of documents.
enum class DocumentPart { Ids, Labels, Mask, Positions };

/// What an input of this name reads of a folder: ids, labels, labels+1, mask or positions.
Status describeDocumentPart(const std::string &folder, const std::string &input, std::string &text);

/// The rows of an input [batch, sequence], cut or padded on the right to the length of a sequence.
/// Of an input with several shapes, documents are put into rows of the longest one.
class DocumentInput {
public:
  /// The part is the member of `file`, otherwise the name of the input says it. With a member,
  /// labels are shifted by `file.skip`, otherwise as the manifest says.
  static Status open(const InputSpec &spec, const ArrayFile &file, Packing packing,
                     OpenDocuments &opened, std::shared_ptr<const DocumentInput> &input);

  const DocumentRows &rows() const { return *source; }
  DocumentPart reads() const { return part; }
  /// Writes `count` rows from `row` on, for a shape of the input. Allocates nothing.
  void read(uint64_t row, uint64_t count, size_t shape, void *destination) const;
  /// Whether a shape has a place for each token of `row`.
  bool holds(size_t shape, uint64_t row) const {
    return source->tokensIn(row % source->size()) <= widths[shape];
  }
  /// "3 of 10 documents are longer than a row ...", or nothing.
  std::string remark() const;

private:
  Status choosePart(const InputSpec &spec, const ArrayFile &file);
  Status checkType(const InputSpec &spec, const ArrayFile &file) const;
  Status checkIds(const InputSpec &spec) const;
  int64_t valueOf(const DocumentRows::Piece &piece, uint64_t column) const;
  int64_t valueBehind(uint64_t column) const;
  template <typename T>
  void writeRow(uint64_t row, std::span<T> destination) const;
  template <typename T>
  void write(uint64_t row, uint64_t count, uint64_t width, T *destination) const;

  std::shared_ptr<const DocumentRows> source;
  std::vector<uint64_t> widths; ///< of rows, by shape
  DType dtype = ZERO_RT_NO_DTYPE;
  DocumentPart part = DocumentPart::Ids;
  uint64_t shift = 0;
};

} // namespace zero::rt

#endif // RUNTIME_IO_DOCUMENT_ROWS_H
