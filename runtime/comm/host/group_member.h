//===- group_member.h - a rank among those of its node ----------*- C++ -*-===//

#ifndef RUNTIME_COMM_HOST_GROUP_MEMBER_H
#define RUNTIME_COMM_HOST_GROUP_MEMBER_H

#include "runtime/comm/host/host_group.h"
#include "runtime/comm/host/rendezvous.h"
#include "runtime/comm/reduce.h"

#include <algorithm>

namespace zero::rt {

/// Slices of a buffer, one for each member of a group; the last ones may be short or empty.
struct Slices {
  uint64_t each, elements;
  std::span<const int> numbers = {}; ///< by member; none: its index

  struct Slice {
    uint64_t begin, count;
  };
  Slice operator[](int index) const {
    const int number = numbers.empty() ? index : numbers[size_t(index)];
    const uint64_t begin = std::min(elements, uint64_t(number) * each);
    return {begin, std::min(each, elements - begin)};
  }
};

/// The members of a group.
struct Members {
  AxisSet axes; ///< along which they differ
  RankGroup ranks;
  std::vector<int> places; ///< of those that meet at the rendezvous
  int sumsOf = 0;          ///< as many are added first

  int size() const { return ranks.size(); }
  int own() const { return ranks.index(); }
};

/// All groups along `axes` are alike in what is added first; see GroupOptions::ranksPerNode.
int sumsOf(const Mesh &mesh, AxisSet axes, int ranksPerNode);

/// Common part of communicators whose ranks meet at a rendezvous, for data on any device: they
/// synchronize, agree on the operation and count it.
class GroupMember : public Communicator {
public:
  /// A rank, and its place in the rendezvous.
  struct Number {
    int rank, place;
  };
  GroupMember(std::shared_ptr<Rendezvous> group, Number number, const GroupOptions &options);

  int rank() const override { return number.rank; }
  const Mesh &mesh() const override { return all; }
  Status meet(const Call &call) override {
    return group->arrive(number.place, membersAlong(kAllAxes).places, call);
  }
  void repeat(const Repeated &collectives) override;
  void abort(const Status &reason) override { group->abort(reason); }
  Traffic traffic() const override { return received; }
  const std::map<AxisSet, uint64_t> &volumes() const override { return elementsOf; }
  uint64_t begunSoFar() const override { return uint64_t(begun.load(std::memory_order_relaxed)); }
  std::string lastBegun() const override;
  uint64_t waited() const override { return group->waited(number.place); }

protected:
  enum Kind { Gather, ReduceScatter, AllReduce, Broadcast };

  /// Publishes addresses and waits for the members at the rendezvous, which must make the same
  /// call.
  Status begin(const Call &call, Kind kind, const void *source, void *destination,
               uint64_t elements);
  Status arrive(const Call &call) { return group->arrive(number.place, members().places, call); }
  /// The group of the collective in progress.
  const Members &members() const { return *current; }
  /// The members of the group along `axes`; made when they meet for the first time, unless the
  /// options name it.
  const Members &membersAlong(AxisSet axes);
  /// What the rank at `place` has published.
  const Offer &offered(int place) const { return group->offer(place, begun); }
  char *sourceOf(int place) const {
    return const_cast<char *>(static_cast<const char *>(offered(place).source));
  }
  void count(const Call &call, DType dtype, uint64_t elements);
  void countLink(uint64_t bytes) { received.linkBytes += bytes; }
  static Status checkReduction(const Reduction &how);

  /// Slices of `each` element of all members, in the order of the collective in progress.
  Slices wholeOf(uint64_t each) const { return {each, each * uint64_t(members().size()), numbers}; }
  /// Received where each member has so many elements.
  uint64_t othersOf(uint64_t each) const { return each * uint64_t(members().size() - 1); }
  /// Elements that each member sums of an all-reduce.
  Slices slicesOf(uint64_t elements) const {
    const auto size = uint64_t(members().size());
    return {(elements + size - 1) / size, elements};
  }
  /// Received in an all-reduce.
  uint64_t receivedOf(uint64_t elements) const {
    const uint64_t own = slicesOf(elements)[members().own()].count;
    return othersOf(own) + (elements - own);
  }
  int place() const { return number.place; }

  std::shared_ptr<Rendezvous> group;
  int self; ///< the rank

private:
  Number number;
  Mesh all;
  int ranksPerNode;
  std::map<AxisSet, Members> groups; ///< by proper axes
  const Members *current;
  std::span<const int> numbers;  ///< of slices, in the collective in progress
  int64_t stallAt;               ///< stalls before this many collectives are done; < 0: never
  std::atomic<int64_t> begun{0}; ///< collectives begun so far, which are all ranks'
  Traffic received;
  std::map<AxisSet, uint64_t> elementsOf;
};

} // namespace zero::rt

#endif // RUNTIME_COMM_HOST_GROUP_MEMBER_H
