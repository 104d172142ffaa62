//===- file.h - files, opened and replaced with care ------------*- C++ -*-===//

#ifndef RUNTIME_SUPPORT_FILE_H
#define RUNTIME_SUPPORT_FILE_H

#include "runtime/support/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace zero::rt {

/// What a transfer past the system's cache (O_DIRECT) is aligned to: its place in the file,
/// its memory and its bytes. What all common drives and file systems are content with.
inline constexpr uint64_t kDiskAlignment = 4096;

/// A regular file mapped read-only, whole. Movable; empty when default-made.
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
  std::span<const uint8_t> bytes() const { return {data, size}; }

private:
  void swap(MappedFile &other) noexcept {
    std::swap(data, other.data);
    std::swap(size, other.size);
  }
  const uint8_t *data = nullptr;
  size_t size = 0;
};

/// Whether both paths lead to one existing file.
bool isSameFile(const std::string &left, const std::string &right);

/// Makes what was created or renamed at `path` survive a crash. Best effort: some file
/// systems refuse it.
void syncFolderOf(const std::string &path);

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

/// A file that appears under its name only once it is complete: written to a
/// temporary in the same folder, renamed by commit(), removed when abandoned.
class OutputFile {
public:
  OutputFile() = default;
  OutputFile(OutputFile &&other) noexcept
      : path(std::move(other.path)), temporary(std::move(other.temporary)),
        descriptor(std::exchange(other.descriptor, -1)) {}
  ~OutputFile();

  /// Creates the temporary: an unwritable folder is found out here.
  static Status create(const std::string &path, OutputFile &file);
  bool isOpen() const { return descriptor >= 0; }
  /// Where it is written until commit().
  const std::string &temporaryPath() const { return temporary; }
  Status write(const void *data, size_t bytes);
  Status write(const std::string &text) { return write(text.data(), text.size()); }
  /// Flushes to disk and renames. The file is closed afterwards, also on failure.
  Status commit();

private:
  void abandon();
  std::string path, temporary;
  int descriptor = -1;
};

} // namespace zero::rt

#endif // RUNTIME_SUPPORT_FILE_H
