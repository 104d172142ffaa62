//===- temporary.h - temporary files ----------------------------*- C++ -*-===//
//
// A temporary has a random name and is locked (flock(2)) while its owner lives. So no other
// process can have its name, and whoever finds one that is not locked knows that its owner
// is gone. A table of all temporaries of this process lets a signal handler delete them.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_SUPPORT_TEMPORARY_H
#define RUNTIME_SUPPORT_TEMPORARY_H

#include "runtime/support/status.h"

#include <cstdint>
#include <string>
#include <utility>

namespace zero::rt {

/// 64 bits that no other process has.
uint64_t randomToken();

/// "PATH.tmp-0123456789abcdef": the path to which the owner of `token` writes the file that becomes
/// `path`.
std::string temporaryPath(const std::string &path, uint64_t token);

/// Whether `name` is a result of temporaryPath() for a name.
bool isTemporaryName(const std::string &name, const std::string &original);

enum class Locked {
  Yes,
  InUse,  ///< by another process, or another descriptor of this one
  Unknown ///< the file system has no locks, or refuses; errno says why
};
/// Locks the open file or folder until `descriptor` is closed. Does not wait.
Locked lockFile(int descriptor);

/// Whether `path` refers to the file that `descriptor` has open.
bool isStillAt(const std::string &path, int descriptor);

struct TemporaryEntry;

/// A file or folder of this process that is deleted by remove(), with its Temporary, or by
/// removeTemporaries(), but only while it is the one at its path: a replacement by another process
/// stays.
class Temporary {
public:
  Temporary() = default;
  /// Owns `path`, which `descriptor` has open. A folder is deleted with the files in it.
  Temporary(const std::string &path, int descriptor);
  Temporary(Temporary &&other) noexcept : entry(std::exchange(other.entry, nullptr)) {}
  Temporary &operator=(Temporary &&other) noexcept {
    std::swap(entry, other.entry);
    return *this;
  }
  ~Temporary() { remove(); }

  /// It is no longer temporary: it has got its name.
  void keep();
  void remove();
  /// A process that ends by a failure renames it to `path` instead.
  void surviveFailureAs(const std::string &path);

private:
  void release();
  TemporaryEntry *entry = nullptr; ///< in the table
};

/// Deletes all temporaries of this process, which must end afterwards. `isFailure`: renames files
/// that must survive a failure. A signal handler may call it.
void removeTemporaries(bool isFailure);

/// Deletes temporaries of `path` whose owner has ended: files, and folders with files in them.
void sweepTemporaries(const std::string &path);

/// A folder that goes with the files in it.
class OwnedFolder {
public:
  OwnedFolder() = default;
  OwnedFolder(OwnedFolder &&other) noexcept { *this = std::move(other); }
  OwnedFolder &operator=(OwnedFolder &&other) noexcept;
  ~OwnedFolder();

  /// Makes one called temporaryPath(`path`, token()).
  static Status create(const std::string &path, unsigned mode, OwnedFolder &folder);
  const std::string &path() const { return name; }
  uint64_t token() const { return number; }
  /// It has got another name, and stays.
  void keep() { own.keep(); }

private:
  std::string name;
  uint64_t number = 0;
  Temporary own;
  int descriptor = -1;
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_TEMPORARY_H
