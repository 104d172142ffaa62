//===- accesses.h - bytes that a command accesses ---------------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_ACCESSES_H
#define RUNTIME_FORMAT_ACCESSES_H

#include "runtime/format/executable.pb.h"
#include "runtime/format/ranges.h"

#include <string>
#include <vector>

namespace zero::rt {

/// Positions number the bytes of all arenas of a rank: those of the device first, then, from
/// kTierBytes on, the host's, then those on disk. An arena is smaller than that.
inline constexpr uint64_t kTierBytes = uint64_t(1) << 56;

/// The position of byte `offset` of the arena of `tier`.
inline uint64_t positionOf(proto::Tier tier, uint64_t offset) {
  return uint64_t(tier) * kTierBytes + offset;
}
inline proto::Tier tierOf(uint64_t position) { return proto::Tier(position / kTierBytes); }
inline uint64_t offsetOf(uint64_t position) { return position % kTierBytes; }

/// Requests the accesses of all ranks: those of the first rank, with strides.
inline constexpr int kEveryRank = -1;

/// The value of bytes that no command reads.
inline constexpr uint32_t kNoValue = UINT32_MAX;

/// Bytes of one rank, or of every one, that are read, written, or read and then written. All
/// are positions.
struct Access {
  RankRange range;
  uint32_t reads = 0; ///< value; 0: nothing is read
  /// The start of that value; an address that depends on the rank counts as that of rank 0.
  uint64_t origin = 0;
  uint32_t writes = 0;  ///< value, which begins with the range; 0: nothing is written
  uint64_t written = 0; ///< the same for the written value
};

/// The accesses of `command` on `rank`, or on kEveryRank, including its predicate and the rest of a
/// block that a disk writes together with its bytes. `program` must have passed validate().
std::vector<Access> accessesOf(const proto::Program &program, const proto::Command &command,
                               int rank);

/// The same for all ranks: each range covers its bytes on every rank.
std::vector<Access> accessesOfAllRanks(const proto::Program &program,
                                       const proto::Command &command);

/// The positions of `count` elements of `dtype` at `offset` of the device's arena.
ByteRange rangeOf(uint64_t offset, proto::DType dtype, uint64_t count);
/// Those of `bytes` at `address` on `rank`, or on kEveryRank.
RankRange rangeOf(const Mesh &mesh, const proto::Address &address, uint64_t bytes, int rank);
/// Those of `buffer`.
RankRange rangeOf(const Mesh &mesh, const proto::Buffer &buffer, int rank);
ByteRange rangeOf(const proto::Input &input);
ByteRange rangeOf(const proto::Output &output);

/// "bytes 0 to 64 of the arena", or of that of another tier.
std::string describe(ByteRange range);

} // namespace zero::rt

#endif // RUNTIME_FORMAT_ACCESSES_H
