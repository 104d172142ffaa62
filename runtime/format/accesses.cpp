//===- accesses.cpp - bytes that a command accesses -----------------------===//

#include "runtime/format/accesses.h"

#include "runtime/format/collectives.h"
#include "runtime/format/tables.h"
#include "runtime/support/file.h"

namespace zero::rt {

ByteRange rangeOf(uint64_t offset, proto::DType dtype, uint64_t count) {
  return {offset, offset + count * sizeOf(toDType(dtype))};
}

/// `bytes` at an address, or where a buffer begins.
template <typename Address>
static RankRange rangeAt(const Address &address, uint64_t bytes, int rank) {
  const uint64_t begin = positionOf(address.tier(), placeOf(address, std::max(rank, 0)));
  return {{begin, begin + bytes}, rank == kEveryRank ? address.rank_stride() : 0};
}

RankRange rangeOf(const proto::Address &address, uint64_t bytes, int rank) {
  return rangeAt(address, bytes, rank);
}

RankRange rangeOf(const proto::Buffer &buffer, int rank) {
  return rangeAt(buffer, buffer.elements() * sizeOf(toDType(buffer.dtype())), rank);
}

ByteRange rangeOf(const proto::Input &input) {
  return rangeOf(input.offset(), input.dtype(), elementsOf(input.shape()));
}

ByteRange rangeOf(const proto::Output &output) {
  return rangeOf(output.offset(), output.dtype(), elementsOf(output.shape()));
}

std::string describe(ByteRange range) {
  static constexpr const char *kNames[] = {"", "host ", "nvme "};
  const uint64_t begin = offsetOf(range.begin);
  return format("bytes %llu to %llu of the %sarena", static_cast<unsigned long long>(begin),
                static_cast<unsigned long long>(begin + range.size()), kNames[tierOf(range.begin)]);
}

static Access accessOf(const proto::Address &address, uint64_t bytes, int rank) {
  return {rangeAt(address, bytes, rank), address.reads(),
          positionOf(address.tier(), address.offset() - address.start()), address.writes(),
          positionOf(address.tier(), address.offset())};
}

/// A disk writes full blocks, so the rest of the last block of `copy` is overwritten.
static std::vector<Access> accessesOf(const proto::Copy &copy, int rank) {
  std::vector<Access> accesses{accessOf(copy.src(), copy.bytes(), rank),
                               accessOf(copy.dst(), copy.bytes(), rank)};
  Access rest = accesses.back();
  rest.range.begin = rest.range.end;
  rest.range.end = (rest.range.end + kDiskAlignment - 1) / kDiskAlignment * kDiskAlignment;
  rest.writes = kNoValue;
  if (copy.dst().tier() == proto::NVME && rest.range.size() > 0)
    accesses.push_back(rest);
  return accesses;
}

static std::vector<Access> accessesOf(const proto::Collective &collective, int ranks, int rank) {
  const uint64_t size = sizeOf(toDType(collective.dtype()));
  Access source =
      accessOf(collective.src(), sourceElements(collective, uint64_t(ranks)) * size, rank);
  Access destination =
      accessOf(collective.dst(), destinationElements(collective, uint64_t(ranks)) * size, rank);
  if (!areSameBytes(collective))
    return {source, destination};
  source.writes = destination.writes;
  source.written = destination.written;
  return {source};
}

std::vector<Access> accessesOf(const proto::Program &program, const proto::Command &command,
                               int rank) {
  std::vector<Access> accesses;
  if (command.has_collective())
    accesses = accessesOf(command.collective(), int(program.ranks()), rank);
  else if (command.has_check())
    accesses = {accessOf(command.check().value(), 2 * sizeof(int64_t), rank)};
  else if (command.has_copy())
    accesses = accessesOf(command.copy(), rank);
  for (const proto::Address &argument : command.launch().args())
    accesses.push_back(accessOf(argument, argument.bytes(), rank));
  if (command.predicate() > 0)
    accesses.push_back(accessOf(program.predicates(int(command.predicate()) - 1), 1, rank));
  return accesses;
}

std::vector<Access> accessesOfAllRanks(const proto::Program &program,
                                       const proto::Command &command) {
  std::vector<Access> all = accessesOf(program, command, kEveryRank);
  for (Access &access : all)
    access.range = reachOf(access.range, int(program.ranks()));
  return all;
}

} // namespace zero::rt
