//===- documents.h - folders of tokenized documents -------------*- C++ -*-===//

#ifndef RUNTIME_IO_DOCUMENTS_H
#define RUNTIME_IO_DOCUMENTS_H

#include "runtime/io/array.h"

namespace zero::rt {

struct InputSpec;

/// Whether `path` is a folder. Data in a folder are tokenized documents.
bool isDocumentFolder(const std::string &path);

/// The files of a folder of documents, the manifest first.
std::vector<std::string> documentFiles(const std::string &folder);

/// The mapped files of a folder of tokenized documents, as `python -m zero tokenize` writes it
/// (docs/reference/tokens.md). Token ids of all documents follow each other.
class Documents {
public:
  /// Checks the manifest, the sizes of all files and the order of all starts.
  static Status open(const std::string &folder, Documents &documents);
  /// Reads the manifest only.
  static Status openManifest(const std::string &folder, Documents &documents);

  uint64_t size() const { return count; }
  uint64_t begin(uint64_t document) const;
  uint64_t end(uint64_t document) const { return begin(document + 1); }
  uint32_t id(uint64_t token) const;
  /// Whether the loss counts a token.
  bool isTrained(uint64_t token) const { return mask.bytes()[token] != 0; }

  uint64_t largestId() const { return largest; }
  uint64_t padId() const { return pad; }
  /// Whether labels are the tokens one position later, for a model that does not shift them itself.
  bool areLabelsShifted() const { return shifted; }

private:
  Status readManifest(const std::string &path);
  Status mapAll(const std::string &folder);

  MappedFile ids, starts, mask;
  uint64_t count = 0, tokens = 0, largest = 0, pad = 0;
  bool isWide = false, shifted = false; ///< ids of 32 bits instead of 16
};

/// What an input reads of documents.
enum class DocumentPart { Ids, Labels, Mask, Positions };

/// What an input of this name reads of a folder: ids, labels, labels+1, mask or positions.
Status describeDocumentPart(const std::string &folder, const std::string &input, std::string &text);

/// The rows of an input [batch, sequence]: row i is document i, cut or padded on the right to the
/// length of a sequence.
class DocumentRows {
public:
  /// The part is the member of `file`, otherwise the name of the input says it. With a member,
  /// labels are shifted by `file.skip`, otherwise as the manifest says.
  static Status open(const InputSpec &spec, const ArrayFile &file,
                     std::shared_ptr<const DocumentRows> &rows);

  uint64_t size() const { return documents.size(); }
  uint64_t rowElements() const { return width; }
  /// Writes `count` rows from `row` on. Allocates nothing.
  void read(uint64_t row, uint64_t count, void *destination) const;

  DocumentPart reads() const { return part; }
  /// "3 of 10 documents are longer than a row ...", or nothing.
  std::string remark() const;
  const std::string &folder() const { return from; }

private:
  Status choosePart(const InputSpec &spec, const ArrayFile &file);
  Status checkInput(const InputSpec &spec) const;
  int64_t valueAt(uint64_t begin, uint64_t end, uint64_t column) const;
  template <typename T>
  void write(uint64_t row, uint64_t count, T *destination) const;

  Documents documents;
  std::string from;
  DType dtype = ZERO_RT_NO_DTYPE;
  DocumentPart part = DocumentPart::Ids;
  uint64_t width = 0, shift = 0;
};

} // namespace zero::rt

#endif // RUNTIME_IO_DOCUMENTS_H
