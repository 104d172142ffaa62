//===- ObjectCache.cpp - cache of object code on disk ---------------------===//

#include "ObjectCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <link.h>
#include <unistd.h>

using namespace llvm;

namespace zero {

/// pruneCache() removes no files with other names.
static constexpr StringLiteral kPrefix = "llvmcache-";
static constexpr StringLiteral kSuffix = ".o";
static constexpr size_t kDigest = 32;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Adds the build ids of a program or library to the hash at `data`.
static int addBuildIds(dl_phdr_info *info, size_t, void *data) {
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE)
      continue;
    const auto *at = reinterpret_cast<const uint8_t *>(info->dlpi_addr + header.p_vaddr);
    static_cast<SHA256 *>(data)->update(ArrayRef(at, header.p_memsz));
  }
  return 0;
}

/// The part of the key of object code besides its text. The notes of an ELF file contain its build
/// id, a hash of the linked code. The key therefore identifies the code of this compiler, of MLIR
/// and of LLVM, and does not depend on a version number that must be increased manually.
static const std::string &compilerIdentity() {
  static const std::string identity = [] {
    SHA256 hash;
    dl_iterate_phdr(addBuildIds, &hash);
    hash.update(LLVM_VERSION_STRING);
    hash.update(sys::getProcessTriple());
    return toStringRef(hash.final()).str();
  }();
  return identity;
}

std::string ObjectCache::keyOf(StringRef text) {
  SHA256 hash;
  hash.update(compilerIdentity());
  hash.update(text);
  return toHex(hash.final(), /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// Entries: a digest of key and object, and the object
//===----------------------------------------------------------------------===//

static std::array<uint8_t, kDigest> digestOf(StringRef key, StringRef object) {
  SHA256 hash;
  hash.update(key);
  hash.update(object);
  return hash.final();
}

std::string ObjectCache::pathOf(StringRef key) const {
  return (folder + "/" + kPrefix + key + kSuffix).str();
}

std::optional<SmallVector<char, 0>> ObjectCache::find(StringRef key) {
  if (folder.empty())
    return std::nullopt;
  auto file = sys::fs::openNativeFileForRead(pathOf(key));
  if (!file) {
    consumeError(file.takeError());
    return std::nullopt;
  }
  auto buffer = MemoryBuffer::getOpenFile(*file, key, /*FileSize=*/-1,
                                          /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  // Marks the entry as recently used, for prune().
  (void)sys::fs::setLastAccessAndModificationTime(*file, std::chrono::system_clock::now());
  (void)sys::fs::closeFile(*file);
  if (!buffer || (*buffer)->getBufferSize() < kDigest)
    return std::nullopt;
  StringRef object = (*buffer)->getBuffer().drop_front(kDigest);
  if (toStringRef(digestOf(key, object)) != (*buffer)->getBuffer().take_front(kDigest))
    return std::nullopt;
  return SmallVector<char, 0>(object.begin(), object.end());
}

void ObjectCache::store(StringRef key, ArrayRef<char> object) {
  if (folder.empty())
    return;
  auto file = sys::fs::TempFile::create(folder + "/" + kPrefix + "%%%%%%%%.tmp",
                                        sys::fs::owner_read | sys::fs::owner_write);
  if (!file) {
    consumeError(file.takeError());
    ++failures;
    return;
  }
  StringRef bytes(object.data(), object.size());
  raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << toStringRef(digestOf(key, bytes)) << bytes;
  stream.flush();
  bool written = !stream.has_error();
  stream.clear_error();
  if (Error error = written ? file->keep(pathOf(key)) : file->discard()) {
    consumeError(std::move(error));
    written = false;
  }
  ++(written ? stored : failures);
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

ObjectCache::~ObjectCache() {
  if (directory != sys::fs::kInvalidFile)
    (void)sys::fs::closeFile(directory);
}

std::string ObjectCache::open(StringRef wanted) {
  sys::fs::file_status status;
  StringRef parent = sys::path::parent_path(wanted);
  std::error_code error;
  if (!parent.empty())
    error = sys::fs::create_directories(parent);
  if (!error)
    error = sys::fs::create_directory(wanted, /*IgnoreExisting=*/true, sys::fs::owner_all);
  if (error)
    return error.message();
  auto opened = sys::fs::openNativeFileForRead(wanted);
  if (!opened)
    return toString(opened.takeError());
  directory = *opened;
  if ((error = sys::fs::status(directory, status)))
    return error.message();
  if (!sys::fs::is_directory(status))
    return "it is no folder";
  if (status.getUser() != ::geteuid())
    return "it belongs to another user, and its content would be executed";
  if (status.permissions() & (sys::fs::group_write | sys::fs::others_write))
    return "others may write to it, and its content would be executed";
  // Who may write to a parent could put another folder in its place: use the one that was checked.
  std::string checked = "/proc/self/fd/" + std::to_string(directory);
  if (sys::fs::access(checked, sys::fs::AccessMode::Write))
    return "it cannot be written";
  folder = checked;
  return "";
}

void ObjectCache::prune(uint64_t bytes, std::chrono::seconds interval) {
  if (stored == 0)
    return;
  CachePruningPolicy policy;
  policy.Interval = interval;
  policy.Expiration = std::chrono::seconds(0);
  policy.MaxSizeBytes = bytes;
  pruneCache(folder, policy);
}

} // namespace zero
