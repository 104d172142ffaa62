//===- host_group.h - ranks whose data is in host memory --------*- C++ -*-===//

#ifndef RUNTIME_COMM_HOST_HOST_GROUP_H
#define RUNTIME_COMM_HOST_HOST_GROUP_H

#include "runtime/comm/host/peer_memory.h"
#include "runtime/comm/host/placement.h"
#include "runtime/comm/link.h"

#include <map>
#include <memory>
#include <set>
#include <vector>

namespace zero::rt {

class Rendezvous;

struct GroupOptions {
  int ranks = 1; ///< of the program
  double timeoutSeconds = 120;
  /// For tests: rank `stallRank` never arrives at its `stallCollective`-th collective. It wakes
  /// when the others have failed.
  int stallRank = -1;
  int64_t stallCollective = -1;
  /// The order of sums: members that are among so many consecutive ranks are added first, in order,
  /// then these sums. 0: all members in order. It belongs to the program; ranks may run anywhere.
  /// It is a product of sizes of the innermost axes and a divisor of the next one, or there is one
  /// axis.
  int ranksPerNode = 0;
  Mesh mesh = {};                   ///< if it is not of `ranks` ranks, these are along one axis
  std::vector<AxisSet> groups = {}; ///< of the collectives to come, beside that of all ranks
  /// Of groups whose slices are not in the order of members, by proper axes: see Call::slices.
  std::map<AxisSet, std::vector<int>> slices = {};

  Mesh meshOfRanks() const { return mesh.ranks() == ranks ? mesh : Mesh::line(ranks); }
  /// The sets of proper axes of all groups.
  std::set<AxisSet> groupAxes() const {
    const Mesh all = meshOfRanks();
    std::set<AxisSet> sets{all.proper(kAllAxes)};
    for (AxisSet axes : groups)
      sets.insert(all.proper(axes));
    return sets;
  }
};

/// The ends of a new group, by rank: threads of this process, which read each other's buffers
/// directly.
std::vector<std::unique_ptr<Communicator>> makeThreadGroup(const GroupOptions &options);

/// The part of a group of several processes that concerns this process.
struct ProcessGroup {
  Placement placement;
  int process = 0;
  std::shared_ptr<Rendezvous> node; ///< of the ranks of this node, by place
  PeerMemory memory;                ///< of the ranks of this node
  std::shared_ptr<Link> link;       ///< to other nodes; null if there are none
};

/// The ends of the ranks of this process, by rank. Ranks of one node meet at a rendezvous and read
/// each other's buffers. Between nodes, each byte of a gather crosses once per node, and so does
/// each sum, if the order of sums is that of the nodes; otherwise the summands themselves do.
std::vector<std::unique_ptr<Communicator>> makeProcessGroup(const GroupOptions &options,
                                                            ProcessGroup group);

} // namespace zero::rt

#endif // RUNTIME_COMM_HOST_HOST_GROUP_H
