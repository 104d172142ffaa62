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
static RankRange rangeAt(const Mesh &mesh, const Address &address, uint64_t bytes, int rank) {
  const uint64_t begin = positionOf(address.tier(), placeOf(mesh, address, std::max(rank, 0)));
  return {{begin, begin + bytes}, rank == kEveryRank ? stridesOf(mesh, address) : PerAxis{}};
}

RankRange rangeOf(const Mesh &mesh, const proto::Address &address, uint64_t bytes, int rank) {
  return rangeAt(mesh, address, bytes, rank);
}

RankRange rangeOf(const Mesh &mesh, const proto::Buffer &buffer, int rank) {
  return rangeAt(mesh, buffer, buffer.elements() * sizeOf(toDType(buffer.dtype())), rank);
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

namespace {
/// Ranks, of which one's accesses are listed, or those of all.
struct Ranks {
  Mesh mesh;
  int rank;
};
} // namespace

static Access accessOf(const proto::Address &address, uint64_t bytes, const Ranks &of) {
  return {rangeAt(of.mesh, address, bytes, of.rank), address.reads(),
          positionOf(address.tier(), address.offset() - address.start()), address.writes(),
          positionOf(address.tier(), address.offset())};
}

/// A disk writes full blocks, so the rest of the last block of `copy` is overwritten.
static std::vector<Access> accessesOf(const proto::Copy &copy, const Ranks &of) {
  std::vector<Access> accesses{accessOf(copy.src(), copy.bytes(), of),
                               accessOf(copy.dst(), copy.bytes(), of)};
  Access rest = accesses.back();
  rest.range.begin = rest.range.end;
  rest.range.end = (rest.range.end + kDiskAlignment - 1) / kDiskAlignment * kDiskAlignment;
  rest.writes = kNoValue;
  if (copy.dst().tier() == proto::NVME && rest.range.size() > 0)
    accesses.push_back(rest);
  return accesses;
}

static std::vector<Access> accessesOf(const proto::Collective &collective, const Ranks &of) {
  const uint64_t size = sizeOf(toDType(collective.dtype()));
  const uint64_t members = groupSize(of.mesh, collective);
  Access source = accessOf(collective.src(), sourceElements(collective, members) * size, of);
  Access destination =
      accessOf(collective.dst(), destinationElements(collective, members) * size, of);
  if (!areSameBytes(collective))
    return {source, destination};
  source.writes = destination.writes;
  source.written = destination.written;
  return {source};
}

std::vector<Access> accessesOf(const proto::Program &program, const proto::Command &command,
                               int rank) {
  const Ranks of{meshOf(program), rank};
  std::vector<Access> accesses;
  if (command.has_collective())
    accesses = accessesOf(command.collective(), of);
  else if (command.has_check())
    accesses = {accessOf(command.check().value(), 2 * sizeof(int64_t), of)};
  else if (command.has_copy())
    accesses = accessesOf(command.copy(), of);
  for (const proto::Address &argument : command.launch().args())
    accesses.push_back(accessOf(argument, argument.bytes(), of));
  if (command.predicate() > 0)
    accesses.push_back(accessOf(program.predicates(int(command.predicate()) - 1), 1, of));
  return accesses;
}

std::vector<Access> accessesOfAllRanks(const proto::Program &program,
                                       const proto::Command &command) {
  std::vector<Access> all = accessesOf(program, command, kEveryRank);
  for (Access &access : all)
    access.range = reachOf(access.range, meshOf(program));
  return all;
}

} // namespace zero::rt
