//===- stripes.h - bytes that are spread over files -------------*- C++ -*-===//

#ifndef RUNTIME_IO_STRIPES_H
#define RUNTIME_IO_STRIPES_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace zero::rt {

struct DiskFile {
  int descriptor = -1;
  const char *path = ""; ///< for errors
};

/// Bytes of which the files have a stripe each in turn. A stripe is what one request moves: any
/// transfer of more bytes keeps all drives busy, each with as many requests as the others.
class Stripes {
public:
  static constexpr uint64_t kBytes = uint64_t(512) << 10;

  Stripes() = default;
  /// `files` must outlive it; each has its stripes from its byte `begin` on.
  explicit Stripes(std::span<const DiskFile> files, uint64_t begin = 0)
      : files(files), begin(begin) {}

  struct Place {
    const DiskFile *file = nullptr;
    uint64_t offset = 0; ///< in the file
    uint64_t bytes = 0;  ///< that follow there
  };
  Place at(uint64_t offset) const;

  /// Of `bytes` bytes, those in the file of this number.
  static uint64_t bytesOf(size_t file, size_t files, uint64_t bytes);

private:
  std::span<const DiskFile> files;
  uint64_t begin = 0;
};

} // namespace zero::rt

#endif // RUNTIME_IO_STRIPES_H
