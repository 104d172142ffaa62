//===- host_communicator.cpp - collectives in host memory -----------------===//

#include "runtime/comm/host/host_communicator.h"

#include <algorithm>

namespace zero::rt {

/// Memory for the chunks of a rank, and the limits of a chunk: a system call or a message each, so
/// not too small; but they should stay in the second-level cache.
static constexpr uint64_t kBuffers = uint64_t(2) << 20;
static constexpr uint64_t kLeastChunk = uint64_t(4) << 10, kMostChunk = uint64_t(256) << 10;

HostCommunicator::HostCommunicator(std::shared_ptr<const ProcessGroup> group, int rank,
                                   const GroupOptions &options)
    : GroupMember(group->node, {rank, group->placement.placeOf(rank), group->placement.ranks()},
                  options),
      shared(std::move(group)), node(placement().nodeOf(rank)),
      sumsPerNode(uint64_t(options.ranksPerNode)),
      sumsByNode(placement().nodes() > 1 && placement().hasNodesOf(options.ranksPerNode)),
      isDirect(memory().elsewhere() == 0 && placement().nodes() == 1),
      sources(size_t(placement().ranks())), sums(size_t(placement().nodes())) {
  if (isDirect)
    return;
  const uint64_t nodes = sums.size();
  const uint64_t parts = sumsByNode ? neighbours().size() + nodes : sources.size();
  chunk = std::clamp(kBuffers / (parts + nodes) / 64 * 64, kLeastChunk, kMostChunk);
  arrived.resize(parts * chunk);
  leaving.resize(sumsByNode ? nodes * chunk : 0);
}

char *HostCommunicator::arrivedFrom(int peer) {
  const int index = !sumsByNode      ? peer
                    : isOnNode(peer) ? placement().placeOf(peer)
                                     : int(neighbours().size()) + placement().nodeOf(peer);
  return arrived.data() + uint64_t(index) * chunk;
}

void HostCommunicator::abort(const Status &reason) {
  GroupMember::abort(reason);
  if (shared->link)
    shared->link->abort(reason);
}

Status HostCommunicator::read(int place, const void *from, void *to, uint64_t bytes) {
  Status status = memory().read(place, from, to, bytes);
  if (!status.ok())
    abort(fail(status.getCode(), "rank %d: %s", group->rankAt(place), status.getMessage().c_str()));
  return status.ok() ? status : group->abortReason();
}

/// Runs the messages, if any.
Status HostCommunicator::exchange(const Call &call) {
  if (messages.empty())
    return {};
  Status status = shared->link->exchange(call, self, messages);
  for (const Link::Message &message : messages)
    countLink(message.send ? 0 : message.bytes);
  messages.clear();
  return status;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// sources[r] = where `bytes` at `offset` of the data of each rank r of this node can be read.
Status HostCommunicator::findSources(uint64_t offset, uint64_t bytes) {
  for (int place = 0; place < group->size(); ++place) {
    const char *from = sourceOf(place) + offset;
    const int peer = group->rankAt(place);
    if (!memory().isHere(place)) {
      ZERO_RT_TRY(read(place, from, arrivedFrom(peer), bytes));
      from = arrivedFrom(peer);
    }
    sources[size_t(peer)] = from;
  }
  return {};
}

/// destination = sum over all ranks of their slice for this rank.
Status HostCommunicator::reduce(const Call &call, const Reduction &how, const Slices &slices,
                                void *destination) {
  return sumsByNode ? reduceByNode(call, how, slices, destination)
                    : reduceInOrder(call, how, slices, destination);
}

/// The elements of `slice` from `start` on, at most `most`.
static uint64_t partOf(const Slices::Slice &slice, uint64_t start, uint64_t most) {
  return std::min(most, slice.count - std::min(slice.count, start));
}

/// Ranks of other nodes send their summands.
Status HostCommunicator::reduceInOrder(const Call &call, const Reduction &how, const Slices &slices,
                                       void *destination) {
  const uint64_t size = sizeOf(how.dtype), most = isDirect ? slices.each : chunk / size;
  const Slices::Slice own = slices[self];
  for (uint64_t start = 0; start < slices.each; start += most) {
    const uint64_t count = partOf(own, start, most);
    for (int peer = 0; peer < ranks(); ++peer) {
      if (isOnNode(peer))
        continue;
      const Slices::Slice theirs = slices[peer];
      if (const uint64_t sent = partOf(theirs, start, most))
        messages.push_back(
            {peer, sourceOf(place()) + (theirs.begin + start) * size, sent * size, true});
      if (count > 0)
        messages.push_back({peer, arrivedFrom(peer), count * size, false});
      sources[size_t(peer)] = arrivedFrom(peer);
    }
    ZERO_RT_TRY(exchange(call));
    if (count == 0)
      continue;
    ZERO_RT_TRY(findSources((own.begin + start) * size, count * size));
    sumInOrder(how, sources, static_cast<char *>(destination) + start * size, count,
               how.mean ? ranks() : 1, sumsPerNode);
  }
  return {};
}

/// destination = sum over the ranks of this node of `count` elements from `begin` on.
Status HostCommunicator::sumOnNode(const Reduction &how, uint64_t begin, uint64_t count,
                                   void *destination) {
  ZERO_RT_TRY(findSources(begin * sizeOf(how.dtype), count * sizeOf(how.dtype)));
  const auto first = sources.begin() + neighbours().front();
  sumPartly(how, {first, size_t(group->size())}, destination, count);
  return {};
}

/// Each rank adds up what its node has for the ranks at its place of all nodes, and sends them the
/// sums.
Status HostCommunicator::reduceByNode(const Call &call, const Reduction &how, const Slices &slices,
                                      void *destination) {
  const uint64_t size = sizeOf(how.dtype), sumSize = sizeOf(how.arithmeticType());
  const uint64_t most = chunk / sumSize;
  const Slices::Slice own = slices[self];
  for (uint64_t start = 0; start < slices.each; start += most) {
    const uint64_t count = partOf(own, start, most);
    for (int other = 0; other < placement().nodes(); ++other) {
      const int peer = placement().ranksOf(other)[size_t(place())];
      const Slices::Slice theirs = slices[peer];
      const uint64_t part = partOf(theirs, start, most);
      if (part > 0)
        ZERO_RT_TRY(sumOnNode(how, theirs.begin + start, part, leavingTo(other)));
      sums[size_t(other)] = other == node ? leavingTo(other) : arrivedFrom(peer);
      if (other != node && part > 0)
        messages.push_back({peer, leavingTo(other), part * sumSize, true});
      if (other != node && count > 0)
        messages.push_back({peer, arrivedFrom(peer), count * sumSize, false});
    }
    ZERO_RT_TRY(exchange(call));
    sumPartials(how, sums, static_cast<char *>(destination) + start * size, count,
                how.mean ? ranks() : 1);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// Fetches the slices of all ranks to `destination`. One rank of each node receives a slice of
/// another node; the others read it there.
Status HostCommunicator::gather(const Call &call, const Slices &slices, uint64_t size,
                                void *destination) {
  auto at = [&](const void *base, int rank) {
    return const_cast<char *>(static_cast<const char *>(base)) + slices[rank].begin * size;
  };
  auto bytesOf = [&](int rank) { return slices[rank].count * size; };
  for (int place = 0; place < group->size(); ++place) {
    const Offer &theirs = offered(place);
    const int peer = group->rankAt(place);
    const void *from = theirs.kind == Gather ? theirs.source : at(theirs.destination, peer);
    ZERO_RT_TRY(read(place, from, at(destination, peer), bytesOf(peer)));
  }
  if (placement().nodes() == 1)
    return {};
  for (int other = 0; other < placement().nodes(); ++other)
    if (other != node && bytesOf(self) > 0)
      messages.push_back(
          {placement().receiver(other, self), at(destination, self), bytesOf(self), true});
  auto isRemote = [&](int peer) { return !isOnNode(peer) && bytesOf(peer) > 0; };
  for (int peer = 0; peer < ranks(); ++peer)
    if (isRemote(peer) && placement().receiver(node, peer) == self)
      messages.push_back({peer, at(destination, peer), bytesOf(peer), false});
  ZERO_RT_TRY(exchange(call));
  ZERO_RT_TRY(arrive(call));
  for (int peer = 0; peer < ranks(); ++peer)
    if (const int from = placement().receiver(node, peer); isRemote(peer) && from != self) {
      const int there = placement().placeOf(from);
      ZERO_RT_TRY(
          read(there, at(offered(there).destination, peer), at(destination, peer), bytesOf(peer)));
    }
  return {};
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

Status HostCommunicator::allGather(const Call &call, DType dtype, const void *source,
                                   void *destination, uint64_t elements) {
  ZERO_RT_TRY(begin(call, Gather, source, destination, elements));
  ZERO_RT_TRY(gather(call, {elements, elements * uint64_t(ranks())}, sizeOf(dtype), destination));
  count(call, dtype, elements * uint64_t(ranks() - 1));
  return arrive(call); // the sources may now be overwritten
}

Status HostCommunicator::reduceScatter(const Call &call, const Reduction &how, const void *source,
                                       void *destination, uint64_t elements) {
  ZERO_RT_TRY(checkReduction(how));
  ZERO_RT_TRY(begin(call, ReduceScatter, source, destination, elements));
  // In place, this writes the rank's slice of the source, which no other rank reads.
  ZERO_RT_TRY(reduce(call, how, {elements, elements * uint64_t(ranks())}, destination));
  count(call, how.dtype, elements * uint64_t(ranks() - 1));
  return arrive(call);
}

/// Each rank sums one slice, then takes the others' slices: the same additions, and so the same
/// bits, as a reduce-scatter and an all-gather.
Status HostCommunicator::allReduce(const Call &call, const Reduction &how, void *data,
                                   uint64_t elements) {
  ZERO_RT_TRY(checkReduction(how));
  ZERO_RT_TRY(begin(call, AllReduce, data, data, elements));
  const Slices slices = slicesOf(elements);
  const uint64_t size = sizeOf(how.dtype);
  ZERO_RT_TRY(reduce(call, how, slices, static_cast<char *>(data) + slices[self].begin * size));
  ZERO_RT_TRY(arrive(call));
  ZERO_RT_TRY(gather(call, slices, size, data));
  count(call, how.dtype, receivedOf(elements));
  return arrive(call);
}

Status HostCommunicator::broadcast(const Call &call, DType dtype, const void *source,
                                   void *destination, uint64_t elements, int root) {
  ZERO_RT_TRY(begin(call, Broadcast, source, destination, elements));
  const uint64_t bytes = elements * sizeOf(dtype);
  const int receiver = placement().receiver(node, root);
  if (isOnNode(root))
    ZERO_RT_TRY(
        read(placement().placeOf(root), sourceOf(placement().placeOf(root)), destination, bytes));
  if (self == root && bytes > 0)
    for (int other = 0; other < placement().nodes(); ++other)
      if (other != node)
        messages.push_back({placement().receiver(other, root), destination, bytes, true});
  if (!isOnNode(root) && receiver == self && bytes > 0)
    messages.push_back({root, destination, bytes, false});
  ZERO_RT_TRY(exchange(call));
  if (placement().nodes() > 1)
    ZERO_RT_TRY(arrive(call));
  if (!isOnNode(root) && receiver != self) {
    const int there = placement().placeOf(receiver);
    ZERO_RT_TRY(read(there, offered(there).destination, destination, bytes));
  }
  count(call, dtype, self == root ? 0 : elements);
  return arrive(call); // the root's source may now be overwritten
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

std::vector<std::unique_ptr<Communicator>> makeProcessGroup(const GroupOptions &options,
                                                            ProcessGroup group) {
  const auto shared = std::make_shared<const ProcessGroup>(std::move(group));
  std::vector<std::unique_ptr<Communicator>> ends;
  const int first = shared->placement.firstRank(shared->process);
  for (int i = 0; i < shared->placement.ranksPerProcess(); ++i)
    ends.push_back(std::make_unique<HostCommunicator>(shared, first + i, options));
  return ends;
}

std::vector<std::unique_ptr<Communicator>> makeThreadGroup(const GroupOptions &options) {
  ProcessGroup group;
  group.placement = Placement(options.ranks, {0});
  group.node = std::make_shared<Rendezvous>(options.ranks, options.timeoutSeconds);
  group.memory = PeerMemory(std::vector<pid_t>(size_t(options.ranks), 0));
  return makeProcessGroup(options, std::move(group));
}

} // namespace zero::rt
