//===- threads.cpp - ranks as threads of one process ----------------------===//

#include "runtime/comm/threads/threads.h"

#include "runtime/comm/reduce.h"
#include "runtime/comm/threads/rendezvous.h"

#include <algorithm>
#include <cstring>

namespace zero::rt {

namespace {

enum Kind { Gather, ReduceScatter, AllReduce };

class ThreadCommunicator : public Communicator {
public:
  ThreadCommunicator(std::shared_ptr<Rendezvous> group, int rank, int64_t stallAt)
      : group(std::move(group)), self(rank), stallAt(stallAt), sources(this->group->size()) {}

  int rank() const override { return self; }
  int ranks() const override { return group->size(); }
  Status allGather(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements) override;
  Status reduceScatter(const Call &call, const Reduction &how, const void *source,
                       void *destination, uint64_t elements) override;
  Status allReduce(const Call &call, const Reduction &how, void *data, uint64_t elements) override;
  void abort(const Status &reason) override { group->abort(reason); }
  Traffic traffic() const override { return received; }
  uint64_t waited() const override { return group->waited(self); }

private:
  Status begin(const Call &call, Kind kind, const void *data, uint64_t elements);
  void sumOverRanks(const Reduction &how, uint64_t start, void *destination, uint64_t elements);
  void count(const Call &call, DType dtype, uint64_t elements);

  std::shared_ptr<Rendezvous> group;
  int self;
  int64_t stallAt;   ///< stalls before this many collectives are done; < 0: never
  int64_t begun = 0; ///< collectives begun so far
  std::vector<const void *> sources;
  Traffic received;
};

} // namespace

/// Lays `data` open and waits for all; what the others offer must be the same call.
Status ThreadCommunicator::begin(const Call &call, Kind kind, const void *data, uint64_t elements) {
  if (begun++ == stallAt)
    return group->sleepUntilAborted();
  Offer &mine = group->offer(self);
  mine = {data, call.label, call.index, elements, kind};
  ZERO_RT_TRY(group->arrive(self, call));
  for (int peer = 0; peer < ranks(); ++peer) {
    const Offer &theirs = group->offer(peer);
    if (theirs.matches(mine))
      continue;
    Status status =
        fail(ZERO_RT_INTERNAL,
             "ranks disagree: rank %d is at collective %llu ('%s', %llu elements), "
             "rank %d at %llu ('%s', %llu elements)",
             self, static_cast<unsigned long long>(mine.index), escape(mine.label).c_str(),
             static_cast<unsigned long long>(mine.elements), peer,
             static_cast<unsigned long long>(theirs.index), escape(theirs.label).c_str(),
             static_cast<unsigned long long>(theirs.elements));
    group->abort(status);
    return status;
  }
  return {};
}

void ThreadCommunicator::count(const Call &call, DType dtype, uint64_t elements) {
  (call.control ? received.controlElements : received.modelElements) += elements;
  (call.control ? received.controlBytes : received.modelBytes) += elements * sizeOf(dtype);
}

/// destination = sum over ranks of what they offer from element `start` on.
void ThreadCommunicator::sumOverRanks(const Reduction &how, uint64_t start, void *destination,
                                      uint64_t elements) {
  for (int peer = 0; peer < ranks(); ++peer)
    sources[peer] = static_cast<const char *>(group->offer(peer).data) + start * sizeOf(how.dtype);
  if (elements > 0)
    sumInOrder(how, sources, destination, elements, how.mean ? ranks() : 1);
}

static Status checkReduction(const Reduction &how) {
  if (canSum(how))
    return {};
  if (how.arithmeticType() == how.dtype)
    return fail(ZERO_RT_UNSUPPORTED, "a sum over ranks of %s", nameOf(how.dtype));
  return fail(ZERO_RT_UNSUPPORTED, "a sum over ranks of %s in %s", nameOf(how.dtype),
              nameOf(how.arithmetic));
}

Status ThreadCommunicator::allGather(const Call &call, DType dtype, const void *source,
                                     void *destination, uint64_t elements) {
  ZERO_RT_TRY(begin(call, Gather, source, elements));
  const uint64_t bytes = elements * sizeOf(dtype);
  for (int peer = 0; peer < ranks(); ++peer) {
    char *to = static_cast<char *>(destination) + peer * bytes;
    const void *from = group->offer(peer).data;
    if (bytes > 0 && to != from)
      std::memcpy(to, from, bytes);
  }
  count(call, dtype, elements * (ranks() - 1));
  return group->arrive(self, call); // the sources may now be overwritten
}

Status ThreadCommunicator::reduceScatter(const Call &call, const Reduction &how, const void *source,
                                         void *destination, uint64_t elements) {
  ZERO_RT_TRY(checkReduction(how));
  ZERO_RT_TRY(begin(call, ReduceScatter, source, elements));
  // In place this writes the own slice of the source, which no other rank reads.
  sumOverRanks(how, self * elements, destination, elements);
  count(call, how.dtype, elements * (ranks() - 1));
  return group->arrive(self, call);
}

Status ThreadCommunicator::allReduce(const Call &call, const Reduction &how, void *data,
                                     uint64_t elements) {
  ZERO_RT_TRY(checkReduction(how));
  ZERO_RT_TRY(begin(call, AllReduce, data, elements));
  // Each rank sums one slice, then takes the others' slices: the same additions, and
  // so the same bits, as a reduce-scatter and an all-gather. Slices may be empty.
  const uint64_t slice = (elements + ranks() - 1) / ranks();
  auto startOf = [&](int peer) { return std::min(elements, peer * slice); };
  auto sizeOfSlice = [&](int peer) { return std::min(slice, elements - startOf(peer)); };
  auto at = [&](const void *base, uint64_t element) {
    return const_cast<char *>(static_cast<const char *>(base)) + element * sizeOf(how.dtype);
  };
  sumOverRanks(how, startOf(self), at(data, startOf(self)), sizeOfSlice(self));
  ZERO_RT_TRY(group->arrive(self, call));
  for (int peer = 0; peer < ranks(); ++peer)
    if (uint64_t size = sizeOfSlice(peer); peer != self && size > 0)
      std::memcpy(at(data, startOf(peer)), at(group->offer(peer).data, startOf(peer)),
                  size * sizeOf(how.dtype));
  uint64_t own = sizeOfSlice(self);
  count(call, how.dtype, own * (ranks() - 1) + (elements - own));
  return group->arrive(self, call);
}

std::vector<std::unique_ptr<Communicator>> makeThreadGroup(const ThreadGroupOptions &options) {
  auto group = std::make_shared<Rendezvous>(options.ranks, options.timeoutSeconds);
  std::vector<std::unique_ptr<Communicator>> ends;
  for (int rank = 0; rank < options.ranks; ++rank)
    ends.push_back(std::make_unique<ThreadCommunicator>(
        group, rank, rank == options.stallRank ? options.stallCollective : -1));
  return ends;
}

} // namespace zero::rt
