//===- tensor_entry.h - an entry of a file of tensors -----------*- C++ -*-===//

#ifndef RUNTIME_IO_TENSOR_ENTRY_H
#define RUNTIME_IO_TENSOR_ENTRY_H

#include "runtime/support/dtype.h"
#include "runtime/support/status.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace zero::rt {

/// Bytes of a tensor that are in memory at a time while it is read or written. A process has some
/// pieces in buffers and messages: of 1 MiB, they took 6 % of the memory of a process that trains
/// GPT-2 mini, and were not faster.
inline constexpr uint64_t kTensorPiece = uint64_t(1) << 18;

struct TensorEntry {
  std::string name;
  DType dtype = ZERO_RT_NO_DTYPE;
  std::vector<uint64_t> shape;
  /// Fills `destination` with `bytes` of the tensor's row-major bytes, from `offset` on.
  std::function<Status(uint64_t offset, void *destination, uint64_t bytes)> read;
  /// Its name in the .onnx model, or empty if the model has no such tensor, and whether the model
  /// has the transpose of this matrix.
  std::string initializer = name;
  bool transposed = false;
  /// NaN or infinity in it is an error of WeightsWriter.
  bool mustBeFinite = false;
  /// Of a matrix with an adapter: the names of the matrices of [size, inputs] and [outputs, size],
  /// the factor of their product, and whether the matrix has its inputs, and not its outputs, in
  /// rows.
  struct Adapter {
    std::string first, second;
    double scale = 1;
    bool isInputsFirst = false;
    std::string magnitude = {}; ///< of [outputs]: to which norms the sums are scaled; or empty
  };
  std::optional<Adapter> adapter = {};
  /// The type that it has in the files that the model was read from, if it is in any.
  DType stored = ZERO_RT_NO_DTYPE;

  uint64_t elements() const {
    uint64_t count = 0;
    countElements(shape, count);
    return count;
  }
  uint64_t bytes() const { return elements() * sizeOf(dtype); }

  /// Calls use(piece, offset) for the tensor's bytes in order, at most `most` at a time, which are
  /// read into `buffer`.
  template <typename Use>
  Status readPieces(uint64_t most, std::vector<uint8_t> &buffer, Use use) const {
    const uint64_t all = bytes();
    for (uint64_t offset = 0; offset < all; offset += most) {
      buffer.resize(std::min(most, all - offset));
      ZERO_RT_TRY(read(offset, buffer.data(), buffer.size()));
      ZERO_RT_TRY(use(std::span<const uint8_t>(buffer), offset));
    }
    return {};
  }
};

/// `entry` with elements of the float type `dtype`, to which the floats of `entry` are converted as
/// convertFloats() does.
TensorEntry withType(const TensorEntry &entry, DType dtype);

/// The type of most bytes of `entries`.
DType mainType(const std::vector<TensorEntry> &entries);

} // namespace zero::rt

#endif // RUNTIME_IO_TENSOR_ENTRY_H
