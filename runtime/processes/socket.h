//===- socket.h - sockets between the processes of a job --------*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_SOCKET_H
#define RUNTIME_PROCESSES_SOCKET_H

#include "runtime/processes/poll_set.h"
#include "runtime/support/status.h"

#include <string>
#include <utility>

namespace zero::rt {

/// An open socket or other descriptor. Closes it.
class Socket {
public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor(descriptor) {}
  Socket(Socket &&other) noexcept : descriptor(std::exchange(other.descriptor, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(descriptor, other.descriptor);
    return *this;
  }
  ~Socket();

  int get() const { return descriptor; }
  bool isOpen() const { return descriptor >= 0; }

private:
  int descriptor = -1;
};

/// Where process 0 listens.
struct Address {
  std::string text;
  std::string name; ///< of an abstract Unix socket; empty: TCP
  std::string host;
  int port = 0;

  bool isLocal() const { return !name.empty(); }
  /// Process 0 takes the first of these ports that is free.
  int ports() const { return isLocal() ? 1 : 16; }
  int portOf(int attempt) const;
  /// The address with this port.
  std::string at(int attempt) const;
};

/// Parses "unix:@NAME" or "tcp:HOST:PORT", where an IPv6 address may be in brackets.
Status parseAddress(const std::string &text, Address &address);

/// Listens at the first free port of `address`, on all interfaces, and writes this port there.
Status listenAt(Address &address, Socket &listener);

/// Takes over a socket that already listens.
Status adoptListener(int descriptor, Socket &listener);

/// Connects to port `attempt` of `address`. Waits at most until `deadline`.
Status connectTo(const Address &address, int attempt, Time deadline, Socket &socket);

/// The next connection, which is not open if there is none. `error`: errno, or 0. A connection by
/// another user of this machine is closed.
Socket acceptFrom(const Socket &listener, int &error);

/// The name of this machine.
std::string hostName();

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_SOCKET_H
