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
  int port = 0; ///< 0: any that is free

  bool isLocal() const { return !name.empty(); }
};

/// The host of an address at which process 0 listens on all interfaces.
inline constexpr char kEverywhere[] = "*";

/// Whether a host is the loopback by its name, so that processes that use it are on one machine.
bool meansLoopback(const std::string &host);

/// Parses "unix:@NAME" or "tcp:HOST:PORT", where an IPv6 address may be in brackets.
Status parseAddress(const std::string &text, Address &address);

/// Listens at `address`: where its host is another name of all of this machine's interfaces, at
/// these. Waits until `deadline` for a process of this user that listens there already, such as one
/// of an earlier attempt; one of another user is an error that names the user, if known.
Status listenAt(const Address &address, Time deadline, Socket &listener);

/// Whether it listens at all interfaces of this machine.
bool isEverywhere(const Socket &listener);
/// The port of a socket that listens, or 0.
int portOf(const Socket &listener);

/// Takes over a socket that already listens.
Status adoptListener(int descriptor, Socket &listener);

/// Connects to `address`. Waits at most until `deadline`.
Status connectTo(const Address &address, Time deadline, Socket &socket);

/// The next connection, which is not open if there is none. `error`: errno, or 0. A connection by
/// another user of this machine is closed.
Socket acceptFrom(const Socket &listener, int &error);

/// The name of this machine.
std::string hostName();

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_SOCKET_H
