//===- host_communicator.h - collectives in host memory ---------*- C++ -*-===//

#ifndef RUNTIME_COMM_HOST_HOST_COMMUNICATOR_H
#define RUNTIME_COMM_HOST_HOST_COMMUNICATOR_H

#include "runtime/comm/host/group_member.h"

namespace zero::rt {

/// How a rank exchanges with the members of one group. These have indices, which `placement` places
/// on nodes: it numbers the nodes of the members only.
struct HostGroup {
  Placement placement;
  int node = 0;            ///< the own one
  bool crosses = false;    ///< some group of these axes has members on several nodes
  bool sumsByNode = false; ///< nodes are as the order of sums says, so that they exchange sums
  bool isDirect = false;   ///< all members are in this process
  uint64_t chunk = 0;      ///< bytes of a buffer, unless it is direct

  int parts() const {
    return sumsByNode ? int(placement.ranksOf(node).size()) + placement.nodes() : placement.ranks();
  }
};

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
  HostGroup makeGroup(const Members &members) const;
  /// Reserves the buffers of `made`, which is then one of the groups.
  HostGroup *keep(AxisSet axes, HostGroup made);
  Status start(const Call &call, Kind kind, const void *source, void *destination,
               uint64_t elements);

  const Placement &placement() const { return at->placement; }
  const PeerMemory &memory() const { return shared->memory; }
  int own() const { return members().own(); }
  int node() const { return at->node; }
  const std::vector<int> &neighbours() const { return placement().ranksOf(node()); }
  bool isOnNode(int index) const { return placement().nodeOf(index) == node(); }
  /// The place at the rendezvous of a member of this node.
  int placeOf(int index) const { return members().places[size_t(placement().placeOf(index))]; }
  void send(int index, void *data, uint64_t bytes) {
    messages.push_back({members().ranks.rankAt(index), data, bytes, true});
  }
  void receive(int index, void *data, uint64_t bytes) {
    messages.push_back({members().ranks.rankAt(index), data, bytes, false});
  }

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
  std::map<AxisSet, HostGroup> groups; ///< by proper axes
  const HostGroup *at = nullptr;       ///< of the collective in progress

  /// Where this rank reads or receives parts of others, and where it adds up sums for other nodes.
  /// All groups use the same memory. None if all ranks are in this process.
  std::vector<char> arrived, leaving;
  /// For a part of member `index`, or a sum of its node.
  char *arrivedFrom(int index);
  char *leavingTo(int other) { return leaving.data() + uint64_t(other) * at->chunk; }
  std::vector<const void *> sources, sums; ///< of the sum in progress
  std::vector<Link::Message> messages;     ///< of the exchange in progress
};

} // namespace zero::rt

#endif // RUNTIME_COMM_HOST_HOST_COMMUNICATOR_H
