//===- safetensors.h - writes weights ---------------------------*- C++ -*-===//

#ifndef RUNTIME_IO_SAFETENSORS_H
#define RUNTIME_IO_SAFETENSORS_H

#include "runtime/support/dtype.h"
#include "runtime/support/file.h"

#include <functional>
#include <vector>

namespace zero::rt {

struct SafetensorsEntry {
  std::string name;
  DType dtype;
  std::vector<uint64_t> shape;
  /// Fills `destination` with the tensor's row-major bytes.
  std::function<Status(void *destination, uint64_t bytes)> read;
};

/// Writes all entries to `file`, one tensor in memory at a time: larger element types
/// first, then by name, so that each tensor is aligned to its element. Does not commit.
Status writeSafetensors(OutputFile &file, std::vector<SafetensorsEntry> entries);

} // namespace zero::rt

#endif // RUNTIME_IO_SAFETENSORS_H
