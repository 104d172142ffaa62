//===- DataFiles.h - external data of a model -------------------*- C++ -*-===//

#ifndef LIB_IMPORT_DATAFILES_H
#define LIB_IMPORT_DATAFILES_H

#include "Tensor.h"

#include "llvm/ADT/StringMap.h"

namespace zero::importer {

/// A block of bytes in a file of the model's folder.
struct DataRef {
  std::string file; ///< relative to the folder, components joined by '/'
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// Checks references to the files beside a model. A model is hostile: a
/// reference must stay inside its folder and name a regular file.
class DataFiles {
public:
  /// With `check` false the files need not exist. References are still checked as far as possible
  /// without the files.
  DataFiles(std::string folder, bool allowSymlinks, bool check)
      : folder(std::move(folder)), allowSymlinks(allowSymlinks), check(check) {}

  /// The file range of the external `tensor` of `bytes` bytes. Fails with an error that names the
  /// tensor if the reference is bad, or its file is missing or too short.
  DataRef resolve(const pb::TensorProto &tensor, int64_t bytes);

  /// The bytes of `ref`, for small constants only.
  std::string read(const DataRef &ref, const llvm::Twine &what);

private:
  /// Opens `file` inside the folder, without following links unless allowed.
  int open(llvm::StringRef file, const llvm::Twine &what);
  uint64_t sizeOf(llvm::StringRef file, const llvm::Twine &what);

  std::string folder;
  bool allowSymlinks;
  bool check;
  llvm::StringMap<uint64_t> sizes;
};

} // namespace zero::importer

#endif // LIB_IMPORT_DATAFILES_H
