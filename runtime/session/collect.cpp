//===- collect.cpp - bring values of all ranks to process 0 ---------------===//

#include "runtime/session/collect.h"

#include "runtime/processes/fields.h"

#include <algorithm>
#include <cstring>

namespace zero::rt {

Status announce(Ranks &ranks, const Request &request) {
  if (!ranks.isOneOfMany())
    return {};
  std::string text;
  for (const uint64_t number : {uint64_t(request.kind), uint64_t(request.index),
                                uint64_t(request.rank), request.range.offset, request.range.bytes})
    append(text, number);
  std::vector<std::string> all;
  Status status = ranks.getWorld().control().allGather("request of process 0", text, all);
  return status.ok() ? status : ranks.end(status);
}

Status awaitRequest(Ranks &ranks, Request &request) {
  std::vector<std::string> all;
  Status status = ranks.getWorld().control().allGather("request of process 0", "", all);
  if (!status.ok())
    return ranks.end(status);
  Fields fields(all.front());
  const auto kind = int(fields.number());
  const auto index = int(fields.number()), rank = int(fields.number());
  const uint64_t offset = fields.number(), bytes = fields.number();
  if (!fields.isAtEnd())
    return fail(ZERO_RT_INTERNAL, "process 0 has sent no request");
  request = {Request::Kind(kind), index, rank, {offset, bytes}};
  return {};
}

//===----------------------------------------------------------------------===//
// Parts of a tensor. A tile may consist of many small ones: a process sends all of its parts at
// once.
//===----------------------------------------------------------------------===//

namespace {
struct OwnPart {
  int rank;
  const proto::Buffer *buffer;
  uint64_t at;                       ///< bytes of the process's parts before it
  uint64_t inRange, inBuffer, bytes; ///< all in bytes
};

/// The parts of a range of a tensor that the ranks of one process contribute.
class OwnParts {
public:
  /// `size`: of an element. Of copies, the first one is used.
  OwnParts(const Ranks &ranks, int process, const std::vector<Block> &blocks, uint64_t size,
           const ValueRange &range) {
    const int each = int(ranks.here().size());
    for (const Block &block : blocks)
      for (int rank = process * each; rank < (process + 1) * each; ++rank)
        if (block.isFirstCopy(rank))
          (void)forEachPart(block, rank, range.offset / size, (range.end() + size - 1) / size,
                            [&](const Part &part) {
                              add(rank, block, part, size, range);
                              return Status();
                            });
  }

  uint64_t getBytes() const { return bytes; }

  /// Calls visit(part, offset, done, count) for the parts of the bytes from `begin` on: `offset` is
  /// in the part, `done` bytes of `total` were visited before.
  template <typename Visit>
  Status visit(uint64_t begin, uint64_t total, Visit visit) const {
    auto part = std::upper_bound(parts.begin(), parts.end(), begin,
                                 [](uint64_t at, const OwnPart &each) { return at < each.at; });
    for (uint64_t done = 0; done < total;) {
      const OwnPart &own = *std::prev(part);
      const uint64_t offset = begin + done - own.at;
      const uint64_t count = std::min(own.bytes - offset, total - done);
      ZERO_RT_TRY(visit(own, offset, done, count));
      done += count;
      ++part;
    }
    return {};
  }

private:
  /// Adds what is of `part` in `range`, which may begin and end inside of an element.
  void add(int rank, const Block &block, const Part &part, uint64_t size, const ValueRange &range) {
    const uint64_t begin = part.inTensor * size, first = std::max(begin, range.offset);
    const uint64_t count = std::min(begin + part.count * size, range.end()) - first;
    parts.push_back({rank, block.buffer, bytes, first - range.offset,
                     part.inBuffer * size + first - begin, count});
    bytes += count;
  }

  std::vector<OwnPart> parts;
  uint64_t bytes = 0;
};

/// Reads `count` bytes of a part, from `offset` on.
using ReadPart =
    std::function<Status(const OwnPart &part, uint64_t offset, char *to, uint64_t count)>;
} // namespace

/// Brings the parts that all processes have of `range` to `destination` in process 0.
static Status collect(Ranks &ranks, const std::vector<Block> &blocks, uint64_t size,
                      const ValueRange &range, char *destination, const ReadPart &read) {
  const int processes = ranks.isOneOfMany() ? ranks.getWorld().processes() : 1;
  for (int process = 0; process < processes; ++process) {
    const OwnParts parts(ranks, process, blocks, size, range);
    auto put = [&](const char *piece, uint64_t begin, uint64_t bytes) {
      return parts.visit(begin, bytes,
                         [&](const OwnPart &part, uint64_t offset, uint64_t done, uint64_t count) {
                           std::memcpy(destination + part.inRange + offset, piece + done, count);
                           return Status();
                         });
    };
    auto get = [&](char *piece, uint64_t begin, uint64_t bytes) {
      return parts.visit(begin, bytes,
                         [&](const OwnPart &part, uint64_t offset, uint64_t done, uint64_t count) {
                           return read(part, offset, piece + done, count);
                         });
    };
    auto getOwn = [&](const OwnPart &part, uint64_t offset, uint64_t, uint64_t count) {
      return read(part, offset, destination + part.inRange + offset, count);
    };
    if (process > 0)
      ZERO_RT_TRY(ranks.getWorld().control().stream("values of another process", process, 0,
                                                    parts.getBytes(), get, put));
    else if (ranks.isFirst())
      ZERO_RT_TRY(parts.visit(0, parts.getBytes(), getOwn));
  }
  return {};
}

Status collectTensor(Ranks &ranks, const proto::Tensor &tensor, const ValueRange &range,
                     void *destination) {
  const Mesh mesh = ranks.program().mesh();
  auto read = [&](const OwnPart &part, uint64_t offset, char *to, uint64_t count) {
    Rank *owner = nullptr;
    ZERO_RT_TRY(ranks.find(part.rank, owner));
    return owner->getMemory()
        .byTier()
        .at(part.buffer->tier())
        .read(placeOf(mesh, *part.buffer, part.rank) + part.inBuffer + offset, count,
              [&](const char *from, uint64_t done, uint64_t bytes) {
                std::memcpy(to + done, from, bytes);
                return Status();
              });
  };
  return collect(ranks, blocksOf(ranks.program().tables(), tensor), sizeOf(toDType(tensor.dtype())),
                 range, static_cast<char *>(destination), read);
}

Status collectGradient(Ranks &ranks, const proto::Gradient &gradient, const ValueRange &range,
                       const ReadGradient &read, void *destination) {
  auto readPart = [&](const OwnPart &part, uint64_t offset, char *to, uint64_t count) {
    return read(range.offset + part.inRange + offset, to, count);
  };
  return collect(
      ranks, blocksOf(ranks.program().tables(), gradient, ranks.program().parameterOf(gradient)),
      sizeOf(gradientType(gradient)), range, static_cast<char *>(destination), readPart);
}

Status fetch(Ranks &ranks, int rank, const void *source, void *destination, uint64_t bytes) {
  const int process = ranks.processOf(rank);
  auto read = [&](char *piece, uint64_t offset, uint64_t count) {
    std::memcpy(piece, static_cast<const char *>(source) + offset, count);
    return Status();
  };
  auto write = [&](const char *piece, uint64_t offset, uint64_t count) {
    std::memcpy(static_cast<char *>(destination) + offset, piece, count);
    return Status();
  };
  if (process > 0)
    return ranks.getWorld().control().stream("values of another process", process, 0, bytes, read,
                                             write);
  return ranks.isFirst() ? read(static_cast<char *>(destination), 0, bytes) : Status();
}

} // namespace zero::rt
