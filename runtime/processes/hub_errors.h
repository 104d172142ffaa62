//===- hub_errors.h - errors that process 0 finds ---------------*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_HUB_ERRORS_H
#define RUNTIME_PROCESSES_HUB_ERRORS_H

#include "runtime/processes/gathering.h"
#include "runtime/processes/handshake.h"

namespace zero::rt {

/// A process of the job, as process 0 knows it.
struct Peer {
  ProcessName name = {};
  std::unique_ptr<Connection> connection = nullptr;
  bool hasLeft = false, isLost = false;
};

using Peers = std::vector<Peer>; ///< by process; the first one is process 0

/// Fails if the process that says `hello` has another version than this one, `own`.
Status checkVersion(const ProcessName &own, const Hello &hello);

/// Why a process of this job cannot join it, or ok.
Status checkHello(const ControlOptions &options, const Peers &peers, const Hello &hello);

/// Names those that have not connected. `turnedAway`: what is known of connections of others.
Status notConnected(const ControlOptions &options, const Peers &peers,
                    const std::string &turnedAway);

/// `process` gave `part` while the others wait for another collective.
Status differentCalls(const Peers &peers, const Gathering &gathering, const Message &part);

/// Names those that have not arrived at the collective.
Status notArrived(const ControlOptions &options, const Peers &peers, const Gathering &gathering);

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_HUB_ERRORS_H
