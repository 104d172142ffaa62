//===- file.h - open and replace files --------------------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_FILE_H
#define RUNTIME_SUPPORT_FILE_H

#include "runtime/support/temporary.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace zero::rt {

/// The alignment of transfers that bypass the page cache (O_DIRECT): of the offset in the file, the
/// address in memory and the number of bytes. All common drives and file systems accept it.
inline constexpr uint64_t kDiskAlignment = 4096;

struct MappedRange;

/// A regular file that is mapped read-only in full. Movable; empty by default.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(MappedFile &&other) noexcept { swap(other); }
  MappedFile &operator=(MappedFile &&other) noexcept {
    swap(other);
    return *this;
  }
  ~MappedFile();

  /// Fails when `path` is missing, unreadable or not a regular file.
  static Status open(const std::string &path, MappedFile &file);
  std::span<const uint8_t> bytes() const;
  /// The pages of `part` are not resident until they are read again. Does nothing to bytes that are
  /// not this file's.
  void release(std::span<const uint8_t> part) const;

private:
  void swap(MappedFile &other) noexcept { std::swap(mapping, other.mapping); }
  MappedRange *mapping = nullptr; ///< in a table, for mappedFileAt()
};

/// Whether both paths lead to one existing file.
bool isSameFile(const std::string &left, const std::string &right);

/// The path of the file of `address`, if a MappedFile maps it there. A signal handler may call it,
/// once: the result stays valid, and the file mapped.
const char *mappedFileAt(const void *address);

/// Makes creations, renames and deletions in `folder` survive a crash. Does nothing on file systems
/// without support, or if the folder may not be read.
Status syncFolder(const std::string &folder);
/// The same for the folder of `path`.
Status syncFolderOf(const std::string &path);

/// Creates `folder` and its missing parents such that they survive a crash.
Status makeFolders(const std::string &folder);

/// An open regular file for reads at offsets.
class InputFile {
public:
  InputFile() = default;
  InputFile(InputFile &&other) noexcept
      : path(std::move(other.path)), descriptor(std::exchange(other.descriptor, -1)),
        length(other.length) {}
  ~InputFile();

  static Status open(const std::string &path, InputFile &file);
  uint64_t size() const { return length; }
  /// Reads exactly `bytes` bytes; a short file is an error that names it.
  Status read(uint64_t offset, void *destination, uint64_t bytes) const;

private:
  std::string path;
  int descriptor = -1;
  uint64_t length = 0;
};

/// A file without a name, in the folder for temporary files ($TMPDIR, or /tmp), for bytes that a
/// process reads again but need not have in its memory. It takes space only where it was written.
/// Any number of threads may read and write at once.
class ScratchFile {
public:
  static Status create(std::unique_ptr<ScratchFile> &file);
  ~ScratchFile();

  Status write(uint64_t offset, const void *data, uint64_t bytes);
  Status read(uint64_t offset, void *destination, uint64_t bytes) const;

private:
  ScratchFile(std::string path, int descriptor) : path(std::move(path)), descriptor(descriptor) {}

  std::string path; ///< the one that it had, for errors
  int descriptor;
};

/// A file that appears under its name only once it is complete: written to a
/// temporary in the same folder, renamed by commit(), removed when abandoned.
class OutputFile {
public:
  OutputFile() = default;
  OutputFile(OutputFile &&other) noexcept
      : path(std::move(other.path)), temporary(std::move(other.temporary)),
        own(std::move(other.own)), descriptor(std::exchange(other.descriptor, -1)) {}
  OutputFile &operator=(OutputFile &&other) noexcept {
    std::swap(path, other.path);
    std::swap(temporary, other.temporary);
    std::swap(own, other.own);
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~OutputFile();

  /// Creates the temporary, so that an unwritable folder is found here. Deletes temporaries of
  /// `path` whose process has ended.
  static Status create(const std::string &path, OutputFile &file);
  /// Writes to `path` itself, for a file of a folder that is temporary: who commits the folder
  /// makes its entries survive a crash.
  static Status createInTemporary(const std::string &path, OutputFile &file);
  bool isOpen() const { return descriptor >= 0; }
  Status write(const void *data, size_t bytes);
  Status write(const std::string &text) { return write(text.data(), text.size()); }
  /// Leaves room for `bytes` bytes from `begin` on, which writeAt() fills, before what is written
  /// next.
  Status skip(uint64_t bytes, uint64_t &begin);
  Status writeAt(uint64_t offset, const void *data, size_t bytes);
  /// Flushes the written data to disk.
  Status sync();
  /// Flushes the file and renames it to its final name. More may be written to it and flushed by
  /// publishing it again.
  Status publish();
  /// Publishes and closes it. It is closed afterwards, also on failure.
  Status commit();
  /// A process that ends by a failure publishes it.
  void surviveFailure() { own.surviveFailureAs(path); }

private:
  Status open();
  void abandon();
  std::string path, temporary; ///< the second: empty once it has its name
  Temporary own;
  int descriptor = -1;
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_FILE_H
