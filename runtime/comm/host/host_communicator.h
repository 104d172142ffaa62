//===- host_communicator.h - collectives in host memory ---------*- C++ -*-===//

#ifndef RUNTIME_COMM_HOST_HOST_COMMUNICATOR_H
#define RUNTIME_COMM_HOST_HOST_COMMUNICATOR_H

#include "runtime/comm/host/group_member.h"

namespace zero::rt {

/// Collectives of ranks whose data is in host memory. What ranks of one process share is in
/// `shared`.
class HostCommunicator : public GroupMember {
public:
  HostCommunicator(std::shared_ptr<const ProcessGroup> shared, int rank,
                   const GroupOptions &options);

  Status allGather(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements) override;
  Status reduceScatter(const Call &call, const Reduction &how, const void *source,
                       void *destination, uint64_t elements) override;
  Status allReduce(const Call &call, const Reduction &how, void *data, uint64_t elements) override;
  Status broadcast(const Call &call, DType dtype, const void *source, void *destination,
                   uint64_t elements, int root) override;
  void abort(const Status &reason) override;

private:
  const Placement &placement() const { return shared->placement; }
  const PeerMemory &memory() const { return shared->memory; }
  const std::vector<int> &neighbours() const { return placement().ranksOf(node); }
  bool isOnNode(int rank) const { return placement().nodeOf(rank) == node; }

  Status read(int place, const void *from, void *to, uint64_t bytes);
  Status exchange(const Call &call);
  Status findSources(uint64_t offset, uint64_t bytes);

  Status reduce(const Call &call, const Reduction &how, const Slices &slices, void *destination);
  Status reduceInOrder(const Call &call, const Reduction &how, const Slices &slices,
                       void *destination);
  Status reduceByNode(const Call &call, const Reduction &how, const Slices &slices,
                      void *destination);
  Status sumOnNode(const Reduction &how, uint64_t begin, uint64_t count, void *destination);
  Status gather(const Call &call, const Slices &slices, uint64_t size, void *destination);

  std::shared_ptr<const ProcessGroup> shared;
  int node;
  uint64_t sumsPerNode; ///< the order of sums, as in GroupOptions
  bool sumsByNode;      ///< whether nodes are as that order says, so that they exchange sums
  bool isDirect;        ///< all ranks are in this process

  /// Where this rank reads or receives parts of others, and where it adds up sums for other nodes:
  /// buffers of `chunk` bytes. None if all ranks are in this process.
  uint64_t chunk = 0;
  std::vector<char> arrived, leaving;
  /// For a part of rank `peer`, or a sum of its node.
  char *arrivedFrom(int peer);
  char *leavingTo(int other) { return leaving.data() + uint64_t(other) * chunk; }
  std::vector<const void *> sources, sums; ///< of the sum in progress
  std::vector<Link::Message> messages;     ///< of the exchange in progress
};

} // namespace zero::rt

#endif // RUNTIME_COMM_HOST_HOST_COMMUNICATOR_H
