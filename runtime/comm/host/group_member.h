//===- group_member.h - a rank among those of its node ----------*- C++ -*-===//

#ifndef RUNTIME_COMM_HOST_GROUP_MEMBER_H
#define RUNTIME_COMM_HOST_GROUP_MEMBER_H

#include "runtime/comm/host/host_group.h"
#include "runtime/comm/host/rendezvous.h"
#include "runtime/comm/reduce.h"

#include <algorithm>

namespace zero::rt {

/// Slices of a buffer, one for each rank; the last ones may be short or empty.
struct Slices {
  uint64_t each, elements;

  struct Slice {
    uint64_t begin, count;
  };
  Slice operator[](int rank) const {
    const uint64_t begin = std::min(elements, uint64_t(rank) * each);
    return {begin, std::min(each, elements - begin)};
  }
};

/// Common part of communicators whose ranks meet at a rendezvous, for data on any device: they
/// synchronize, agree on the operation and count it.
class GroupMember : public Communicator {
public:
  /// A rank, its place in the rendezvous, and the number of ranks of the program.
  struct Number {
    int rank, place, ranks;
  };
  GroupMember(std::shared_ptr<Rendezvous> group, Number number, const GroupOptions &options)
      : group(std::move(group)), self(number.rank), number(number),
        stallAt(number.rank == options.stallRank ? options.stallCollective : -1) {}

  int rank() const override { return number.rank; }
  int ranks() const override { return number.ranks; }
  void abort(const Status &reason) override { group->abort(reason); }
  Traffic traffic() const override { return received; }
  uint64_t begunSoFar() const override { return uint64_t(begun.load(std::memory_order_relaxed)); }
  std::string lastBegun() const override;
  uint64_t waited() const override { return group->waited(number.place); }

protected:
  enum Kind { Gather, ReduceScatter, AllReduce, Broadcast };

  /// Publishes addresses and waits for the ranks of the rendezvous, which must make the same call.
  Status begin(const Call &call, Kind kind, const void *source, void *destination,
               uint64_t elements);
  Status arrive(const Call &call) { return group->arrive(number.place, call); }
  /// What the rank at `place` has published.
  const Offer &offered(int place) const { return group->offer(place, begun); }
  char *sourceOf(int place) const {
    return const_cast<char *>(static_cast<const char *>(offered(place).source));
  }
  void count(const Call &call, DType dtype, uint64_t elements);
  void countLink(uint64_t bytes) { received.linkBytes += bytes; }
  static Status checkReduction(const Reduction &how);

  /// Elements that each rank sums of an all-reduce.
  Slices slicesOf(uint64_t elements) const {
    return {(elements + uint64_t(ranks()) - 1) / uint64_t(ranks()), elements};
  }
  /// Received in an all-reduce.
  uint64_t receivedOf(uint64_t elements) const {
    const uint64_t own = slicesOf(elements)[self].count;
    return own * uint64_t(ranks() - 1) + (elements - own);
  }
  int place() const { return number.place; }

  std::shared_ptr<Rendezvous> group;
  int self; ///< the rank

private:
  Number number;
  int64_t stallAt;               ///< stalls before this many collectives are done; < 0: never
  std::atomic<int64_t> begun{0}; ///< collectives begun so far, which are all ranks'
  Traffic received;
};

} // namespace zero::rt

#endif // RUNTIME_COMM_HOST_GROUP_MEMBER_H
