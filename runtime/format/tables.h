//===- tables.h - what the tables of an executable say ----------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_TABLES_H
#define RUNTIME_FORMAT_TABLES_H

#include "runtime/format/executable.pb.h"
#include "runtime/support/dtype.h"

#include <algorithm>

namespace zero::rt {

/// The tables' numbers are those of the C interface.
/// A number that is none of them, as damaged tables may hold, becomes no type.
inline DType toDType(proto::DType dtype) {
  return proto::DType_IsValid(dtype) ? static_cast<DType>(dtype) : ZERO_RT_NO_DTYPE;
}

/// The element type of initial values that a tensor of `dtype` is read from.
inline DType storedType(const proto::Init::Range &range, DType dtype) {
  return range.stored() == proto::DTYPE_UNSPECIFIED ? dtype : toDType(range.stored());
}

inline std::span<const uint64_t> shapeOf(const google::protobuf::RepeatedField<uint64_t> &shape) {
  return {shape.data(), static_cast<size_t>(shape.size())};
}

/// Elements of a shape that validate() has passed.
inline uint64_t elementsOf(const google::protobuf::RepeatedField<uint64_t> &shape) {
  uint64_t count = 0;
  countElements(shapeOf(shape), count);
  return count;
}

/// The elements of a tensor that one rank holds.
struct Part {
  uint64_t inTensor = 0, inBuffer = 0, count = 0;
};

/// What `rank` holds of `count` elements that start at element `start` of `buffer`'s
/// bucket.
inline Part partOf(const proto::Buffer &buffer, uint64_t start, uint64_t count, int rank) {
  if (buffer.shards() == 1)
    return {0, start, count};
  uint64_t first = static_cast<uint64_t>(rank) * buffer.elements();
  uint64_t low = std::max(start, first);
  uint64_t high = std::min(start + count, first + buffer.elements());
  return low < high ? Part{low - start, low - first, high - low} : Part{};
}

/// Micro-batches of a step, at least 1.
inline uint64_t microBatchesOf(const proto::Program &program) {
  return std::max<uint64_t>(1, program.micro_batches());
}

/// Where a buffer or another address lies in the arena of `rank`, in bytes.
template <typename Address>
uint64_t placeOf(const Address &address, int rank) {
  return address.offset() + static_cast<uint64_t>(rank * address.rank_stride());
}

} // namespace zero::rt

#endif // RUNTIME_FORMAT_TABLES_H
