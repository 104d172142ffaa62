//===- safetensors.h - .safetensors files -----------------------*- C++ -*-===//

#ifndef RUNTIME_IO_SAFETENSORS_H
#define RUNTIME_IO_SAFETENSORS_H

#include "runtime/io/array.h"
#include "runtime/io/tensor_entry.h"
#include "runtime/support/file.h"

#include <map>

namespace zero::rt {

/// The bytes before those of `entries`, which follow in this order: the length of the header, and
/// the header with `metadata` (each key only once, as in a map).
std::string safetensorsHeader(const std::vector<TensorEntry> &entries,
                              const std::map<std::string, std::string> &metadata = {});

/// Fails if an entry has the one name that the format reserves.
Status checkSafetensorsNames(const std::vector<TensorEntry> &entries);

/// Writes all entries to `file`, a piece of a tensor in memory at a time: larger element types
/// first, then by name, so that each tensor is aligned to its element. Does not commit. Fails on a
/// name that checkSafetensorsNames() refuses.
Status writeSafetensors(OutputFile &file, std::vector<TensorEntry> entries,
                        const std::map<std::string, std::string> &metadata = {});

/// Lists the tensors of a mapped file by name; their bytes are not copied. Errors: a header above
/// 100 MB or that is not a JSON object, a shape that does not match its bytes, and tensors that
/// overlap, leave gaps or are outside the file.
Status parseSafetensors(std::span<const uint8_t> file, std::map<std::string, Array> &tensors);

} // namespace zero::rt

#endif // RUNTIME_IO_SAFETENSORS_H
