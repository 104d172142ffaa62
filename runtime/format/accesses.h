//===- accesses.h - which bytes a command touches ---------------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_ACCESSES_H
#define RUNTIME_FORMAT_ACCESSES_H

#include "runtime/format/executable.pb.h"
#include "runtime/format/ranges.h"

#include <vector>

namespace zero::rt {

/// Bytes of one rank's arena that are read, written, or read and then written.
struct Access {
  ByteRange range;
  uint32_t reads = 0; ///< value; 0: nothing is read
  /// Offset in the arena at which that value begins; what lies at a multiple of the rank
  /// counts as if it lay at rank 0's.
  uint64_t origin = 0;
  uint32_t writes = 0;  ///< value, which begins with the range; 0: nothing is written
  uint64_t written = 0; ///< the same of what is written
};

/// What `command` touches on `rank`, its predicate included. `program` has passed validate().
std::vector<Access> accessesOf(const proto::Program &program, const proto::Command &command,
                               int rank);

/// The same on any rank: each range reaches over where it lies on the first and on the last.
std::vector<Access> accessesOfAllRanks(const proto::Program &program,
                                       const proto::Command &command);

/// The bytes of `count` elements of `dtype` at `offset`.
ByteRange rangeOf(uint64_t offset, proto::DType dtype, uint64_t count);

} // namespace zero::rt

#endif // RUNTIME_FORMAT_ACCESSES_H
