//===- DataFiles.cpp - external data of a model ---------------------------===//

#include "DataFiles.h"

#include "runtime/support/checked.h"
#include "llvm/ADT/StringExtras.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using llvm::StringRef;
using llvm::Twine;

namespace zero::importer {

/// Fails unless `location` is a relative path that cannot leave its folder.
/// Returns it without empty and "." components.
static std::string checkLocation(StringRef location, const Twine &what) {
  if (location.empty() || location.contains('\0'))
    fail(what + ": its external data names no file");
  if (location.starts_with("/") || location.contains('\\'))
    fail(what + ": expected a path relative to the model's folder, got " + quote(location));
  llvm::SmallVector<StringRef> parts, kept;
  location.split(parts, '/');
  for (StringRef part : parts) {
    if (part == "..")
      fail(what + ": expected a path inside the model's folder, got " + quote(location));
    if (!part.empty() && part != ".")
      kept.push_back(part);
  }
  if (kept.empty())
    fail(what + ": its external data names no file");
  return llvm::join(kept, "/");
}

/// The entry `key` of external data as a number, or `fallback` if absent.
static uint64_t numberEntry(const pb::TensorProto &tensor, StringRef key, uint64_t fallback,
                            const Twine &what) {
  for (const pb::StringStringEntryProto &entry : tensor.external_data()) {
    uint64_t value = 0;
    if (entry.key() != key)
      continue;
    if (!parseInteger(entry.value(), value))
      fail(what + ": expected a number as its external data's " + key + ", got " +
           quote(entry.value()));
    return value;
  }
  return fallback;
}

static std::string locationEntry(const pb::TensorProto &tensor) {
  for (const pb::StringStringEntryProto &entry : tensor.external_data())
    if (entry.key() == "location")
      return entry.value();
  return {};
}

DataRef DataFiles::resolve(const pb::TensorProto &tensor, int64_t bytes) {
  std::string what = "initializer " + quote(tensor.name());
  DataRef ref{checkLocation(locationEntry(tensor), what), numberEntry(tensor, "offset", 0, what),
              numberEntry(tensor, "length", bytes, what)};
  if (ref.bytes != static_cast<uint64_t>(bytes))
    fail(what + ": expected " + Twine(bytes) +
         " bytes of external data for its shape, got length " + Twine(ref.bytes));
  uint64_t end = 0;
  if (!checkedAdd(ref.offset, ref.bytes, end))
    fail(what + ": the end of its external data does not fit 64 bits");
  if (!check)
    return ref;
  uint64_t size = sizeOf(ref.file, what);
  if (end > size)
    fail(what + ": expected " + quote(ref.file) + " to hold bytes " + Twine(ref.offset) + " to " +
         Twine(end) + ", got a file of " + Twine(size));
  return ref;
}

int DataFiles::open(StringRef file, const Twine &what) {
  const int follow = allowSymlinks ? 0 : O_NOFOLLOW;
  int at = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  llvm::SmallVector<StringRef> parts;
  file.split(parts, '/');
  for (size_t i = 0; i < parts.size() && at >= 0; ++i) {
    // A pipe would block the open, and a device is no data.
    const int kind = i + 1 < parts.size() ? O_DIRECTORY : O_NONBLOCK;
    int next = ::openat(at, parts[i].str().c_str(), O_RDONLY | O_CLOEXEC | follow | kind);
    const int error = errno;
    ::close(at);
    at = next;
    errno = error;
  }
  if (at >= 0)
    return at;
  const std::string reason = std::strerror(errno);
  // A link to a folder reads as ENOTDIR.
  if (!allowSymlinks && (errno == ELOOP || errno == ENOTDIR))
    fail(what + ": expected its external data " + quote(file) +
             " to be reached without symbolic links",
         {"--allow-symlinks follows them"});
  fail(what + ": cannot open its external data " + quote(file) + ": " + reason,
       {"to begin with random values instead, see --init"});
}

uint64_t DataFiles::sizeOf(StringRef file, const Twine &what) {
  if (auto it = sizes.find(file); it != sizes.end())
    return it->second;
  int descriptor = open(file, what);
  struct stat status{};
  const bool known = ::fstat(descriptor, &status) == 0;
  ::close(descriptor);
  if (!known || !S_ISREG(status.st_mode))
    fail(what + ": expected its external data " + quote(file) + " to be a regular file");
  return sizes[file] = static_cast<uint64_t>(status.st_size);
}

std::string DataFiles::read(const DataRef &ref, const Twine &what) {
  int descriptor = open(ref.file, what);
  std::string bytes(ref.bytes, '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t got = ::pread(descriptor, bytes.data() + done, bytes.size() - done,
                          static_cast<off_t>(ref.offset + done));
    if (got <= 0)
      break;
    done += static_cast<size_t>(got);
  }
  ::close(descriptor);
  if (done != bytes.size())
    fail(what + ": cannot read its external data " + quote(ref.file));
  return bytes;
}

} // namespace zero::importer
