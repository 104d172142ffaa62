//===- tensor_entry.cpp - an entry of a file of tensors -------------------===//

#include "runtime/io/tensor_entry.h"

#include "runtime/support/floats.h"

#include <map>

namespace zero::rt {

TensorEntry withType(const TensorEntry &entry, DType dtype) {
  TensorEntry made = entry;
  if (entry.dtype == dtype)
    return made;
  made.dtype = dtype;
  made.read = [entry, dtype](uint64_t offset, void *destination, uint64_t bytes) -> Status {
    const uint64_t size = sizeOf(entry.dtype), count = bytes / sizeOf(dtype);
    std::vector<char> elements(count * size);
    ZERO_RT_TRY(entry.read(offset / sizeOf(dtype) * size, elements.data(), elements.size()));
    convertFloats(entry.dtype, elements.data(), dtype, destination, count);
    return {};
  };
  return made;
}

DType mainType(const std::vector<TensorEntry> &entries) {
  std::map<DType, uint64_t> bytes;
  DType most = ZERO_RT_F32;
  for (const TensorEntry &entry : entries)
    if ((bytes[entry.dtype] += entry.bytes()) > bytes[most])
      most = entry.dtype;
  return most;
}

} // namespace zero::rt
