//===- process_group.h - CPU ranks in many processes ------------*- C++ -*-===//

#ifndef RUNTIME_SESSION_PROCESS_GROUP_H
#define RUNTIME_SESSION_PROCESS_GROUP_H

#include "runtime/comm/host/host_group.h"
#include "runtime/processes/world.h"

namespace zero::rt {

/// Fails if `ranks` do not divide among the processes.
Status checkDivides(const World &world, int ranks);

/// The nodes of the ranks of `world`.
Placement placementOf(const World &world, int ranks);

/// Makes the ends of the ranks of this process. Collective. Nodes are connected by the launcher's
/// MPI.
Status openProcessGroup(World &world, const GroupOptions &options,
                        std::vector<std::unique_ptr<Communicator>> &ends);

} // namespace zero::rt

#endif // RUNTIME_SESSION_PROCESS_GROUP_H
