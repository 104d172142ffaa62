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
  std::string job; ///< drawn at random
  std::string node;
  std::vector<std::string> networks; ///< IPv4 addresses with lengths: "10.0.0.1/24"

  /// Of this process, which listens at a port that the kernel selects.
  static Status make(Socket &listener, Invitation &invitation);
  std::string encode() const;
  static Status decode(std::string_view text, Invitation &invitation);

  /// The address for this process: the loopback on the same node, else one in a network that both
  /// have, else the first.
  Status findAddress(std::string &address) const;
};

/// Writes the file at `path`, which must not exist yet.
Status writeInvitation(const std::string &path, const Invitation &invitation);
/// Waits until the file is there.
Status readInvitation(const std::string &path, double timeoutSeconds, Invitation &invitation);

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_INVITATION_H
