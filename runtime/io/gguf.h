//===- gguf.h - write .gguf files -------------------------------*- C++ -*-===//
// The format of llama.cpp, version 3: metadata, a list of tensors, and their bytes.
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_IO_GGUF_H
#define RUNTIME_IO_GGUF_H

#include "runtime/io/tensor_entry.h"
#include "runtime/support/file.h"

#include <string_view>

namespace zero::rt {

/// Keys with values, in the order in which they are set.
class GgufMetadata {
public:
  void set(std::string_view key, uint32_t value) { add(key, 4, value); }
  void set(std::string_view key, float value) { add(key, 6, value); }
  void set(std::string_view key, bool value) { add(key, 7, uint8_t(value)); }
  void set(std::string_view key, std::string_view value);
  void set(std::string_view key, const std::vector<std::string> &values);
  void set(std::string_view key, const std::vector<int32_t> &values);

  uint64_t size() const { return count; }
  const std::string &bytes() const { return written; }

private:
  template <typename T>
  void add(std::string_view key, uint32_t type, T value);
  void begin(std::string_view key, uint32_t type);
  void beginList(std::string_view key, uint32_t type, uint64_t length);

  uint64_t count = 0;
  std::string written;
};

/// Writes `entries`, of f32, f16 and bf16. With `inBlocks`, matrices of f32 are written as Q8_0:
/// each 32 elements of a row as bytes with a scale of f16. Matrices of other widths are f16 then.
/// Does not commit.
Status writeGguf(OutputFile &file, const GgufMetadata &metadata,
                 const std::vector<TensorEntry> &entries, bool inBlocks);

} // namespace zero::rt

#endif // RUNTIME_IO_GGUF_H
