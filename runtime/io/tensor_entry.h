//===- tensor_entry.h - an entry of a file of tensors -----------*- C++ -*-===//

#ifndef RUNTIME_IO_TENSOR_ENTRY_H
#define RUNTIME_IO_TENSOR_ENTRY_H

#include "runtime/support/dtype.h"
#include "runtime/support/status.h"

#include <functional>
#include <vector>

namespace zero::rt {

struct TensorEntry {
  std::string name;
  DType dtype = ZERO_RT_NO_DTYPE;
  std::vector<uint64_t> shape;
  /// Fills `destination` with the tensor's row-major bytes.
  std::function<Status(void *destination, uint64_t bytes)> read;
  /// Its name in the .onnx model, or empty if the model has no such tensor, and whether the model
  /// has the transpose of this matrix.
  std::string initializer = name;
  bool transposed = false;

  uint64_t elements() const {
    uint64_t count = 0;
    countElements(shape, count);
    return count;
  }
  uint64_t bytes() const { return elements() * sizeOf(dtype); }
};

} // namespace zero::rt

#endif // RUNTIME_IO_TENSOR_ENTRY_H
