//===- group_member.h - a rank among threads of one process -----*- C++ -*-===//

#ifndef RUNTIME_COMM_THREADS_GROUP_MEMBER_H
#define RUNTIME_COMM_THREADS_GROUP_MEMBER_H

#include "runtime/comm/reduce.h"
#include "runtime/comm/threads/rendezvous.h"
#include "runtime/comm/threads/threads.h"

#include <algorithm>

namespace zero::rt {

/// Common part of communicators of threads, for data on any device: they synchronize, agree on the
/// operation and count it.
class GroupMember : public Communicator {
public:
  GroupMember(std::shared_ptr<Rendezvous> group, int rank, const ThreadGroupOptions &options)
      : group(std::move(group)), self(rank),
        stallAt(rank == options.stallRank ? options.stallCollective : -1) {}

  int rank() const override { return self; }
  int ranks() const override { return group->size(); }
  void abort(const Status &reason) override { group->abort(reason); }
  Traffic traffic() const override { return received; }
  uint64_t waited() const override { return group->waited(self); }

protected:
  enum Kind { Gather, ReduceScatter, AllReduce, Broadcast };

  /// Publishes `data` and waits for all ranks, which must make the same call. All threads of the
  /// group take part, even if they are not all ranks.
  Status begin(const Call &call, Kind kind, const void *data, uint64_t elements);
  Status arrive(const Call &call) { return group->arrive(self, call); }
  /// The data that `peer` has published.
  char *offered(int peer) const {
    return const_cast<char *>(static_cast<const char *>(group->offer(peer, begun).data));
  }
  void count(const Call &call, DType dtype, uint64_t elements);
  static Status checkReduction(const Reduction &how);

  /// Elements that a rank sums of an all-reduce. Slices may be empty.
  struct Slice {
    uint64_t begin, count;
  };
  Slice sliceOf(int peer, uint64_t elements) const {
    const uint64_t each = (elements + ranks() - 1) / ranks();
    const uint64_t begin = std::min(elements, peer * each);
    return {begin, std::min(each, elements - begin)};
  }

  std::shared_ptr<Rendezvous> group;
  int self;

private:
  int64_t stallAt;   ///< stalls before this many collectives are done; < 0: never
  int64_t begun = 0; ///< collectives begun so far, which are all ranks'
  Traffic received;
};

} // namespace zero::rt

#endif // RUNTIME_COMM_THREADS_GROUP_MEMBER_H
