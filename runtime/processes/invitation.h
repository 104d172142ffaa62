//===- invitation.h - where process 0 can be reached ------------*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_INVITATION_H
#define RUNTIME_PROCESSES_INVITATION_H

#include "runtime/processes/socket.h"

#include <string>
#include <vector>

namespace zero::rt {

/// The same for processes that can see each other by their numbers, as the kernel says: one boot
/// of one machine, and the same namespaces of processes and of the network.
std::string nodeKey();

/// What the other processes have to know about process 0, where neither they nor their launcher has
/// agreed on an address before.
struct Invitation {
  int port = 0;
  std::string job, secret; ///< drawn at random
  std::string node;
  std::vector<std::string> networks; ///< IPv4 addresses with lengths: "10.0.0.1/24"

  /// Of this process, which listens at a port that the kernel selects: at the loopback if all
  /// processes are on one machine, at one `interface` (its name or address) if it is given, else at
  /// all.
  static Status make(bool isOneMachine, const std::string &interface, Socket &listener,
                     Invitation &invitation);
  std::string encode() const;
  static Status decode(std::string_view text, Invitation &invitation);

  /// The addresses for this process, the most likely one first: the loopback on the same node;
  /// elsewhere those in the smallest network that both have, then the others. Those that this
  /// machine has, too, are left out: they do not lead to process 0.
  Status findAddresses(std::vector<std::string> &addresses) const;
};

/// Waits until the file is there that process 0 writes.
Status readInvitation(const std::string &path, double timeoutSeconds, Invitation &invitation);

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_INVITATION_H
