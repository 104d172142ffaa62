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
    : GroupMember(group->node, {rank, group->placement.placeOf(rank)}, options),
      shared(std::move(group)), sources(size_t(ranks())), sums(size_t(shared->placement.nodes())) {
  for (AxisSet axes : options.groupAxes())
    keep(axes, makeGroup(membersAlong(axes)));
}

/// The nodes of the members of the group of `rank`, numbered in the order in which they occur.
static std::vector<int> nodesOf(const Placement &placement, const RankGroup &group) {
  std::vector<int> found, nodes;
  for (int rank : group.ranks()) {
    const auto known = std::ranges::find(found, placement.nodeOf(rank));
    nodes.push_back(int(known - found.begin()));
    if (known == found.end())
      found.push_back(placement.nodeOf(rank));
  }
  return nodes;
}

HostGroup HostCommunicator::makeGroup(const Members &members) const {
  HostGroup made;
  made.placement = Placement(/*ranksPerProcess=*/1, nodesOf(shared->placement, members.ranks));
  made.node = made.placement.nodeOf(members.own());
  const int sums = members.sumsOf < members.size() ? members.sumsOf : 0;
  made.sumsByNode = made.placement.nodes() > 1 && made.placement.hasNodesOf(sums);
  made.isDirect =
      made.placement.nodes() == 1 &&
      std::ranges::all_of(members.places, [&](int place) { return memory().isHere(place); });
  for (int rank = 0; rank < ranks(); ++rank) {
    const std::vector<int> nodes =
        nodesOf(shared->placement, RankGroup(mesh(), members.axes, rank));
    made.crosses |= *std::ranges::max_element(nodes) > 0;
  }
  return made;
}

HostGroup *HostCommunicator::keep(AxisSet axes, HostGroup made) {
  const uint64_t nodes = uint64_t(made.placement.nodes()), parts = uint64_t(made.parts());
  if (!made.isDirect) {
    made.chunk = std::clamp(kBuffers / (parts + nodes) / 64 * 64, kLeastChunk, kMostChunk);
    arrived.resize(std::max(arrived.size(), parts * made.chunk));
    leaving.resize(std::max(leaving.size(), made.sumsByNode ? nodes * made.chunk : 0));
  }
  return &groups.emplace(axes, std::move(made)).first->second;
}

Status HostCommunicator::start(const Call &call, Kind kind, const void *source, void *destination,
                               uint64_t elements) {
  const Members &along = membersAlong(call.axes);
  const auto known = groups.find(along.axes);
  at = known != groups.end() ? &known->second : keep(along.axes, makeGroup(along));
  return begin(call, kind, source, destination, elements);
}

char *HostCommunicator::arrivedFrom(int index) {
  const int buffer = !at->sumsByNode   ? index
                     : isOnNode(index) ? placement().placeOf(index)
                                       : int(neighbours().size()) + placement().nodeOf(index);
  return arrived.data() + uint64_t(buffer) * at->chunk;
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

/// sources[i] = where `bytes` at `offset` of the data of each member i on this node can be read.
Status HostCommunicator::findSources(uint64_t offset, uint64_t bytes) {
  for (int index : neighbours()) {
    const int place = placeOf(index);
    const char *from = sourceOf(place) + offset;
    if (!memory().isHere(place)) {
      ZERO_RT_TRY(read(place, from, arrivedFrom(index), bytes));
      from = arrivedFrom(index);
    }
    sources[size_t(index)] = from;
  }
  return {};
}

/// destination = sum over all members of their slice for this one.
Status HostCommunicator::reduce(const Call &call, const Reduction &how, const Slices &slices,
                                void *destination) {
  return at->sumsByNode ? reduceByNode(call, how, slices, destination)
                        : reduceInOrder(call, how, slices, destination);
}

/// The elements of `slice` from `start` on, at most `most`.
static uint64_t partOf(const Slices::Slice &slice, uint64_t start, uint64_t most) {
  return std::min(most, slice.count - std::min(slice.count, start));
}

/// Members on other nodes send their summands.
Status HostCommunicator::reduceInOrder(const Call &call, const Reduction &how, const Slices &slices,
                                       void *destination) {
  const uint64_t size = sizeOf(how.dtype), most = at->isDirect ? slices.each : at->chunk / size;
  const Slices::Slice mine = slices[own()];
  for (uint64_t start = 0; start < slices.each; start += most) {
    const uint64_t count = partOf(mine, start, most);
    for (int peer = 0; peer < members().size(); ++peer) {
      if (isOnNode(peer))
        continue;
      const Slices::Slice theirs = slices[peer];
      if (const uint64_t sent = partOf(theirs, start, most))
        send(peer, sourceOf(place()) + (theirs.begin + start) * size, sent * size);
      if (count > 0)
        receive(peer, arrivedFrom(peer), count * size);
      sources[size_t(peer)] = arrivedFrom(peer);
    }
    ZERO_RT_TRY(exchange(call));
    if (count == 0)
      continue;
    ZERO_RT_TRY(findSources((mine.begin + start) * size, count * size));
    sumInOrder(how, std::span(sources).first(size_t(members().size())),
               static_cast<char *>(destination) + start * size, count,
               how.mean ? members().size() : 1, uint64_t(members().sumsOf));
  }
  return {};
}

/// destination = sum over the members on this node of `count` elements from `begin` on.
Status HostCommunicator::sumOnNode(const Reduction &how, uint64_t begin, uint64_t count,
                                   void *destination) {
  ZERO_RT_TRY(findSources(begin * sizeOf(how.dtype), count * sizeOf(how.dtype)));
  const auto first = sources.begin() + neighbours().front();
  sumPartly(how, {first, neighbours().size()}, destination, count);
  return {};
}

/// Each member adds up what its node has for the members at its place of all nodes, and sends them
/// the sums.
Status HostCommunicator::reduceByNode(const Call &call, const Reduction &how, const Slices &slices,
                                      void *destination) {
  const uint64_t size = sizeOf(how.dtype), sumSize = sizeOf(how.arithmeticType());
  const uint64_t most = at->chunk / sumSize;
  const Slices::Slice mine = slices[own()];
  for (uint64_t start = 0; start < slices.each; start += most) {
    const uint64_t count = partOf(mine, start, most);
    for (int other = 0; other < placement().nodes(); ++other) {
      const int peer = placement().ranksOf(other)[size_t(placement().placeOf(own()))];
      const Slices::Slice theirs = slices[peer];
      const uint64_t part = partOf(theirs, start, most);
      if (part > 0)
        ZERO_RT_TRY(sumOnNode(how, theirs.begin + start, part, leavingTo(other)));
      sums[size_t(other)] = other == node() ? leavingTo(other) : arrivedFrom(peer);
      if (other != node() && part > 0)
        send(peer, leavingTo(other), part * sumSize);
      if (other != node() && count > 0)
        receive(peer, arrivedFrom(peer), count * sumSize);
    }
    ZERO_RT_TRY(exchange(call));
    sumPartials(how, std::span(sums).first(size_t(placement().nodes())),
                static_cast<char *>(destination) + start * size, count,
                how.mean ? members().size() : 1);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// Fetches the slices of all members to `destination`. One member of each node receives a slice of
/// another node; the others read it there. If any group of these axes needs that, all of them meet
/// once more, so that all ranks of a node count the same barriers.
Status HostCommunicator::gather(const Call &call, const Slices &slices, uint64_t size,
                                void *destination) {
  auto sliceAt = [&](const void *base, int index) {
    return const_cast<char *>(static_cast<const char *>(base)) + slices[index].begin * size;
  };
  auto bytesOf = [&](int index) { return slices[index].count * size; };
  for (int peer : neighbours()) {
    const Offer &theirs = offered(placeOf(peer));
    const void *from = theirs.kind == Gather ? theirs.source : sliceAt(theirs.destination, peer);
    ZERO_RT_TRY(read(placeOf(peer), from, sliceAt(destination, peer), bytesOf(peer)));
  }
  if (!at->crosses)
    return {};
  for (int other = 0; other < placement().nodes(); ++other)
    if (other != node() && bytesOf(own()) > 0)
      send(placement().receiver(other, own()), sliceAt(destination, own()), bytesOf(own()));
  auto isRemote = [&](int peer) { return !isOnNode(peer) && bytesOf(peer) > 0; };
  for (int peer = 0; peer < members().size(); ++peer)
    if (isRemote(peer) && placement().receiver(node(), peer) == own())
      receive(peer, sliceAt(destination, peer), bytesOf(peer));
  ZERO_RT_TRY(exchange(call));
  ZERO_RT_TRY(arrive(call));
  for (int peer = 0; peer < members().size(); ++peer)
    if (const int from = placement().receiver(node(), peer); isRemote(peer) && from != own()) {
      const int there = placeOf(from);
      ZERO_RT_TRY(read(there, sliceAt(offered(there).destination, peer), sliceAt(destination, peer),
                       bytesOf(peer)));
    }
  return {};
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

Status HostCommunicator::allGather(const Call &call, DType dtype, const void *source,
                                   void *destination, uint64_t elements) {
  ZERO_RT_TRY(start(call, Gather, source, destination, elements));
  ZERO_RT_TRY(gather(call, wholeOf(elements), sizeOf(dtype), destination));
  count(call, dtype, othersOf(elements));
  return arrive(call); // the sources may now be overwritten
}

Status HostCommunicator::reduceScatter(const Call &call, const Reduction &how, const void *source,
                                       void *destination, uint64_t elements) {
  ZERO_RT_TRY(checkReduction(how));
  ZERO_RT_TRY(start(call, ReduceScatter, source, destination, elements));
  // In place, this writes the own slice of the source, which no other member reads.
  ZERO_RT_TRY(reduce(call, how, wholeOf(elements), destination));
  count(call, how.dtype, othersOf(elements));
  return arrive(call);
}

/// Each member sums one slice, then takes the others' slices: the same additions, and so the same
/// bits, as a reduce-scatter and an all-gather.
Status HostCommunicator::allReduce(const Call &call, const Reduction &how, void *data,
                                   uint64_t elements) {
  ZERO_RT_TRY(checkReduction(how));
  ZERO_RT_TRY(start(call, AllReduce, data, data, elements));
  const Slices slices = slicesOf(elements);
  const uint64_t size = sizeOf(how.dtype);
  ZERO_RT_TRY(reduce(call, how, slices, static_cast<char *>(data) + slices[own()].begin * size));
  ZERO_RT_TRY(arrive(call));
  ZERO_RT_TRY(gather(call, slices, size, data));
  count(call, how.dtype, receivedOf(elements));
  return arrive(call);
}

Status HostCommunicator::broadcast(const Call &call, DType dtype, const void *source,
                                   void *destination, uint64_t elements, int root) {
  ZERO_RT_TRY(start(call, Broadcast, source, destination, elements));
  const uint64_t bytes = elements * sizeOf(dtype);
  const int receiver = placement().receiver(node(), root);
  if (isOnNode(root))
    ZERO_RT_TRY(read(placeOf(root), sourceOf(placeOf(root)), destination, bytes));
  if (own() == root && bytes > 0)
    for (int other = 0; other < placement().nodes(); ++other)
      if (other != node())
        send(placement().receiver(other, root), destination, bytes);
  if (!isOnNode(root) && receiver == own() && bytes > 0)
    receive(root, destination, bytes);
  ZERO_RT_TRY(exchange(call));
  if (at->crosses)
    ZERO_RT_TRY(arrive(call));
  if (!isOnNode(root) && receiver != own()) {
    const int there = placeOf(receiver);
    ZERO_RT_TRY(read(there, offered(there).destination, destination, bytes));
  }
  count(call, dtype, own() == root ? 0 : elements);
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
