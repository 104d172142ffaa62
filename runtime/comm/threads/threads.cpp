//===- threads.cpp - ranks as threads of one process ----------------------===//

#include "runtime/comm/threads/threads.h"

#include "runtime/comm/threads/group_member.h"

#include <cstring>

namespace zero::rt {

namespace {
class ThreadCommunicator : public GroupMember {
public:
  ThreadCommunicator(std::shared_ptr<Rendezvous> group, int rank, const ThreadGroupOptions &options)
      : GroupMember(std::move(group), rank, options), sources(size_t(ranks())) {}

  Status allGather(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements) override;
  Status reduceScatter(const Call &call, const Reduction &how, const void *source,
                       void *destination, uint64_t elements) override;
  Status allReduce(const Call &call, const Reduction &how, void *data, uint64_t elements) override;
  Status broadcast(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements, int root) override;

private:
  void sumOverRanks(const Reduction &how, uint64_t start, void *destination, uint64_t elements);

  std::vector<const void *> sources;
};
} // namespace

/// destination = sum over ranks of their sources from element `start` on.
void ThreadCommunicator::sumOverRanks(const Reduction &how, uint64_t start, void *destination,
                                      uint64_t elements) {
  for (int peer = 0; peer < ranks(); ++peer)
    sources[size_t(peer)] = offered(peer) + start * sizeOf(how.dtype);
  if (elements > 0)
    sumInOrder(how, sources, destination, elements, how.mean ? ranks() : 1);
}

Status ThreadCommunicator::allGather(const Call &call, DType dtype, const void *source,
                                     void *destination, uint64_t elements) {
  ZERO_RT_TRY(begin(call, Gather, source, elements));
  const uint64_t bytes = elements * sizeOf(dtype);
  for (int peer = 0; peer < ranks(); ++peer) {
    char *to = static_cast<char *>(destination) + peer * bytes;
    const void *from = offered(peer);
    if (bytes > 0 && to != from)
      std::memcpy(to, from, bytes);
  }
  count(call, dtype, elements * (ranks() - 1));
  return arrive(call); // the sources may now be overwritten
}

Status ThreadCommunicator::reduceScatter(const Call &call, const Reduction &how, const void *source,
                                         void *destination, uint64_t elements) {
  ZERO_RT_TRY(checkReduction(how));
  ZERO_RT_TRY(begin(call, ReduceScatter, source, elements));
  // In place, this writes the rank's slice of the source, which no other rank reads.
  sumOverRanks(how, self * elements, destination, elements);
  count(call, how.dtype, elements * (ranks() - 1));
  return arrive(call);
}

Status ThreadCommunicator::allReduce(const Call &call, const Reduction &how, void *data,
                                     uint64_t elements) {
  ZERO_RT_TRY(checkReduction(how));
  ZERO_RT_TRY(begin(call, AllReduce, data, elements));
  // Each rank sums one slice, then takes the others' slices: the same additions, and
  // so the same bits, as a reduce-scatter and an all-gather.
  auto at = [&](void *base, uint64_t element) {
    return static_cast<char *>(base) + element * sizeOf(how.dtype);
  };
  const Slice own = sliceOf(self, elements);
  sumOverRanks(how, own.begin, at(data, own.begin), own.count);
  ZERO_RT_TRY(arrive(call));
  for (int peer = 0; peer < ranks(); ++peer)
    if (Slice slice = sliceOf(peer, elements); peer != self && slice.count > 0)
      std::memcpy(at(data, slice.begin), at(offered(peer), slice.begin),
                  slice.count * sizeOf(how.dtype));
  count(call, how.dtype, own.count * (ranks() - 1) + (elements - own.count));
  return arrive(call);
}

Status ThreadCommunicator::broadcast(const Call &call, DType dtype, const void *source,
                                     void *destination, uint64_t elements, int root) {
  ZERO_RT_TRY(begin(call, Broadcast, source, elements));
  const uint64_t bytes = elements * sizeOf(dtype);
  if (const void *from = offered(root); bytes > 0 && destination != from)
    std::memcpy(destination, from, bytes);
  count(call, dtype, self == root ? 0 : elements);
  return arrive(call); // the root's source may now be overwritten
}

std::vector<std::unique_ptr<Communicator>> makeThreadGroup(const ThreadGroupOptions &options) {
  auto group = std::make_shared<Rendezvous>(options.ranks, options.timeoutSeconds);
  std::vector<std::unique_ptr<Communicator>> ends;
  ends.reserve(options.ranks);
  for (int rank = 0; rank < options.ranks; ++rank)
    ends.push_back(std::make_unique<ThreadCommunicator>(group, rank, options));
  return ends;
}

} // namespace zero::rt
