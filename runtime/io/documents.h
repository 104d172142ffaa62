//===- documents.h - folders of tokenized documents -------------*- C++ -*-===//

#ifndef RUNTIME_IO_DOCUMENTS_H
#define RUNTIME_IO_DOCUMENTS_H

#include "runtime/io/array.h"

namespace zero::rt {

/// Whether `path` is a folder. Data in a folder are tokenized documents.
bool isDocumentFolder(const std::string &path);

/// The folders of documents in a folder that is none itself, by name: its shards.
std::vector<std::string> documentShards(const std::string &folder);

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
  /// Of all documents.
  uint64_t tokens() const { return total; }
  uint64_t begin(uint64_t document) const;
  uint64_t end(uint64_t document) const { return begin(document + 1); }
  uint64_t length(uint64_t document) const { return end(document) - begin(document); }
  /// The document that has a token.
  uint64_t documentOf(uint64_t token) const;
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
  uint64_t count = 0, total = 0, largest = 0, pad = 0;
  bool isWide = false, shifted = false; ///< ids of 32 bits instead of 16
};

} // namespace zero::rt

#endif // RUNTIME_IO_DOCUMENTS_H
