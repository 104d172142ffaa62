//===- host_group.h - ranks whose data is in host memory --------*- C++ -*-===//

#ifndef RUNTIME_COMM_HOST_HOST_GROUP_H
#define RUNTIME_COMM_HOST_HOST_GROUP_H

#include "runtime/comm/host/peer_memory.h"
#include "runtime/comm/host/placement.h"
#include "runtime/comm/link.h"

#include <memory>
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
  /// The order of sums: so many consecutive ranks are added first, in order, then these sums. 0:
  /// all ranks in order. It belongs to the program; ranks may run anywhere.
  int ranksPerNode = 0;
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
