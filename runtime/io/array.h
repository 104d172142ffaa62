//===- array.h - bytes with a type and a shape ------------------*- C++ -*-===//

#ifndef RUNTIME_IO_ARRAY_H
#define RUNTIME_IO_ARRAY_H

#include "runtime/support/dtype.h"
#include "runtime/support/file.h"

#include <memory>
#include <vector>

namespace zero::rt {

/// Row-major elements, in a mapped file or in memory of their own.
struct Array {
  DType dtype = ZERO_RT_NO_DTYPE;
  std::vector<uint64_t> shape;
  std::span<const uint8_t> bytes;
  std::shared_ptr<const MappedFile> file;             ///< keeps `bytes` alive, or
  std::shared_ptr<const std::vector<uint8_t>> memory; ///< this does
};

/// Reads `path`: a .npy, or `member` of a .npz. An empty `member` means the one
/// called `preferred`, else the only one.
Status readArray(const std::string &path, const std::string &member, const std::string &preferred,
                 Array &array);

} // namespace zero::rt

#endif // RUNTIME_IO_ARRAY_H
