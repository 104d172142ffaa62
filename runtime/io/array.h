//===- array.h - bytes with a type and a shape ------------------*- C++ -*-===//

#ifndef RUNTIME_IO_ARRAY_H
#define RUNTIME_IO_ARRAY_H

#include "runtime/support/dtype.h"
#include "runtime/support/file.h"

#include <memory>
#include <vector>

namespace zero::rt {

/// Row-major elements, in a mapped file or in separate memory.
struct Array {
  DType dtype = ZERO_RT_NO_DTYPE;
  std::vector<uint64_t> shape;
  std::span<const uint8_t> bytes;
  std::string from;                                   ///< its file, for errors; may be empty
  std::shared_ptr<const MappedFile> file;             ///< keeps `bytes` alive, or
  std::shared_ptr<const std::vector<uint8_t>> memory; ///< this does

  /// Bytes of a mapped file are not resident until they are read again.
  void release(uint64_t offset, uint64_t count) const {
    if (file)
      file->release(bytes.subspan(offset, count));
  }
};

/// " in 'FILE'", or nothing for an array from memory.
std::string placeOf(const Array &array);

/// A file and the part of it that is used.
struct ArrayFile {
  std::string path;
  std::string member;           ///< of a .npz; empty: the one of the input's name
  DType raw = ZERO_RT_NO_DTYPE; ///< a file of nothing but elements of this type
  uint64_t skip = 0, ahead = 0; ///< of a stream: see cutStream()
};

/// Maps the array in `file`. Without a member, a .npz is asked for `input`, then for
/// "input.INPUT", then for its only one.
Status readArray(const ArrayFile &file, const std::string &input, Array &array);

} // namespace zero::rt

#endif // RUNTIME_IO_ARRAY_H
