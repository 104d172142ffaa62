//===- npz.h - zip archives of arrays ---------------------------*- C++ -*-===//

#ifndef RUNTIME_IO_NPZ_H
#define RUNTIME_IO_NPZ_H

#include "runtime/io/array.h"

namespace zero::rt {

/// One file of an archive, from its central directory.
struct NpzMember {
  std::string name; ///< without ".npy"
  bool deflated = false;
  uint64_t offset = 0; ///< of the local header
  uint64_t begin = 0;  ///< of its bytes
  uint64_t packed = 0, size = 0;
  uint32_t crc = 0;
};

/// Whether `file` starts like a zip archive.
bool isNpz(std::span<const uint8_t> file);

/// Reads the central directory (zip64 too). Entries outside the file, that overlap or
/// have one name are an error.
Status listNpz(std::span<const uint8_t> file, std::vector<NpzMember> &members);

/// Points `array.bytes` at the member's bytes (a complete .npy): inside `file` if stored, in new
/// memory if deflated. The checksum of a stored one is not checked, because that would read all of
/// a file that is mapped because it may be larger than memory.
Status readNpzMember(std::span<const uint8_t> file, const NpzMember &member, Array &array);

} // namespace zero::rt

#endif // RUNTIME_IO_NPZ_H
