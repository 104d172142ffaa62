//===- ObjectCache.h - cache of object code on disk -------------*- C++ -*-===//

#ifndef LIB_CODEGEN_OBJECT_OBJECTCACHE_H
#define LIB_CODEGEN_OBJECT_OBJECTCACHE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

namespace zero {

/// A directory with an object file for each compiled text. Its entries are code that will be
/// executed: the directory must belong to the user and be writable by no other user, and an
/// incomplete entry is ignored. All functions except open() may be called from several threads;
/// processes may share the directory.
class ObjectCache {
public:
  ObjectCache() = default;
  ObjectCache(const ObjectCache &) = delete;
  ~ObjectCache();

  /// Uses `folder`, and makes it if need be. Returns why it cannot be used, or nothing;
  /// an object without a folder knows nothing and keeps nothing. To be called once.
  std::string open(llvm::StringRef folder);

  /// The key of `text`, for this compiler and this machine's instructions.
  static std::string keyOf(llvm::StringRef text);

  std::optional<llvm::SmallVector<char, 0>> find(llvm::StringRef key);
  void store(llvm::StringRef key, llvm::ArrayRef<char> object);

  /// Removes the entries that were used least recently until all have at most `bytes`. Does nothing
  /// if nothing was stored, or if any process did it less than `interval` ago: it reads the status
  /// of each entry, which takes seconds for 100,000 of them.
  void prune(uint64_t bytes = 256 << 20, std::chrono::seconds interval = std::chrono::minutes(20));
  /// Whether something could not be stored.
  bool hasFailed() const { return failures > 0; }

private:
  std::string pathOf(llvm::StringRef key) const;

  llvm::sys::fs::file_t directory = llvm::sys::fs::kInvalidFile; ///< open while it is used
  std::string folder; ///< the path of `directory`, whatever has its name by now
  std::atomic<unsigned> stored = 0, failures = 0;
};

} // namespace zero

#endif // LIB_CODEGEN_OBJECT_OBJECTCACHE_H
