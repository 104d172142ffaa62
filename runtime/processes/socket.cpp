//===- socket.cpp - sockets between the processes of a job ----------------===//

#include "runtime/processes/socket.h"

#include "runtime/support/checked.h"

#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace zero::rt {

Socket::~Socket() {
  if (descriptor >= 0)
    ::close(descriptor);
}

/// Ports beyond the last one continue 4096 below: those are above the ports that Linux gives to
/// connections, too.
int Address::portOf(int attempt) const {
  const int next = port + attempt;
  return next > 65535 ? next - 4096 : next;
}

std::string Address::at(int attempt) const {
  if (isLocal())
    return text;
  const bool isIpv6 = host.find(':') != std::string::npos;
  return format(isIpv6 ? "tcp:[%s]:%d" : "tcp:%s:%d", host.c_str(), portOf(attempt));
}

static Status malformed(const std::string &text) {
  return fail(ZERO_RT_INVALID_ARGUMENT,
              "expected an address 'unix:@NAME' or 'tcp:HOST:PORT', got '%s'",
              escape(text.substr(0, 200)).c_str());
}

Status parseAddress(const std::string &text, Address &address) {
  Address parsed;
  parsed.text = text;
  const std::string_view view = text;
  if (view.starts_with("unix:@")) {
    parsed.name = view.substr(6);
    // The first byte of the path is 0.
    if (parsed.name.empty() || parsed.name.size() >= sizeof(sockaddr_un::sun_path))
      return malformed(text);
  } else {
    const size_t colon = view.rfind(':');
    if (!view.starts_with("tcp:") || colon < 5 || colon > 260 ||
        !parseInteger(view.substr(colon + 1), parsed.port) || parsed.port < 1 ||
        parsed.port > 65535)
      return malformed(text);
    std::string_view host = view.substr(4, colon - 4);
    if (host.starts_with('[') && host.ends_with(']'))
      host = host.substr(1, host.size() - 2);
    parsed.host = host;
  }
  address = std::move(parsed);
  return {};
}

static std::string errorText(int error) { return std::strerror(error); }

static Socket newSocket(int family) {
  return Socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

static void set(const Socket &socket, int level, int option, int value) {
  // All options make connections better, but none is needed.
  (void)::setsockopt(socket.get(), level, option, &value, sizeof(value));
}

/// Small messages leave at once. A host that is gone is found within half a minute, if nothing else
/// finds it.
static void configure(const Socket &socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
}

static socklen_t localAddress(const Address &address, sockaddr_un &local) {
  local = {};
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path + 1, address.name.data(), address.name.size());
  return socklen_t(offsetof(sockaddr_un, sun_path) + 1 + address.name.size());
}

/// Binds and listens, or returns errno.
static int tryListen(const Socket &socket, const sockaddr *name, socklen_t length) {
  if (::bind(socket.get(), name, length) != 0 || ::listen(socket.get(), SOMAXCONN) != 0)
    return errno;
  return 0;
}

static int listenAtPort(int port, Socket &listener) {
  listener = newSocket(AF_INET6);
  if (listener.isOpen()) {
    set(listener, IPPROTO_IPV6, IPV6_V6ONLY, 0); // IPv4, too
    set(listener, SOL_SOCKET, SO_REUSEADDR, 1);
    sockaddr_in6 all = {};
    all.sin6_family = AF_INET6;
    all.sin6_port = htons(uint16_t(port));
    return tryListen(listener, reinterpret_cast<sockaddr *>(&all), sizeof(all));
  }
  listener = newSocket(AF_INET); // a kernel without IPv6
  if (!listener.isOpen())
    return errno;
  set(listener, SOL_SOCKET, SO_REUSEADDR, 1);
  sockaddr_in all = {};
  all.sin_family = AF_INET;
  all.sin_port = htons(uint16_t(port));
  return tryListen(listener, reinterpret_cast<sockaddr *>(&all), sizeof(all));
}

Status listenAt(Address &address, Socket &listener) {
  int error = 0;
  if (address.isLocal()) {
    sockaddr_un local;
    const socklen_t length = localAddress(address, local);
    listener = newSocket(AF_UNIX);
    error = listener.isOpen() ? tryListen(listener, reinterpret_cast<sockaddr *>(&local), length)
                              : errno;
    if (error == 0)
      return {};
    return fail(ZERO_RT_IO, "cannot listen at %s: %s", escape(address.text).c_str(),
                errorText(error).c_str());
  }
  for (int attempt = 0; attempt < address.ports(); ++attempt) {
    error = listenAtPort(address.portOf(attempt), listener);
    if (error == 0) {
      address.text = address.at(attempt);
      return {};
    }
    if (error != EADDRINUSE)
      break;
  }
  return fail(ZERO_RT_IO, "cannot listen at %s, nor at one of the %d ports after it: %s",
              escape(address.text).c_str(), address.ports() - 1, errorText(error).c_str());
}

Status adoptListener(int descriptor, Socket &listener) {
  listener = Socket(descriptor);
  int isListening = 0;
  socklen_t length = sizeof(isListening);
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) != 0 ||
      !isListening)
    return fail(ZERO_RT_INVALID_ARGUMENT, "expected a socket that listens, got descriptor %d",
                descriptor);
  if (::fcntl(descriptor, F_SETFL, O_NONBLOCK) != 0 ||
      ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0)
    return fail(ZERO_RT_IO, "cannot change descriptor %d: %s", descriptor,
                errorText(errno).c_str());
  return {};
}

/// Whether the other end is a process of this user, or on another machine.
static bool isOwn(const Socket &socket) {
  ucred other = {};
  socklen_t length = sizeof(other);
  int family = 0;
  socklen_t familyLength = sizeof(family);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &family, &familyLength) != 0 ||
      family != AF_UNIX)
    return true;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 &&
         other.uid == ::geteuid();
}

/// Connects until `deadline`, or returns errno.
static int tryConnect(const Socket &socket, const sockaddr *name, socklen_t length, Time deadline) {
  if (!socket.isOpen())
    return errno;
  if (::connect(socket.get(), name, length) == 0)
    return isOwn(socket) ? 0 : EPERM;
  if (errno != EINPROGRESS)
    return errno;
  PollSet polls;
  const int index = polls.add(socket.get(), POLLOUT);
  polls.wakeAt(deadline);
  do {
    polls.wait();
    if (Clock::now() >= deadline && !polls.events(index))
      return ETIMEDOUT;
  } while (!polls.events(index));
  int error = 0;
  socklen_t size = sizeof(error);
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

static Status connectError(const std::string &where, const std::string &why) {
  return fail(ZERO_RT_IO, "cannot connect to %s: %s", escape(where).c_str(), why.c_str());
}

Status connectTo(const Address &address, int attempt, Time deadline, Socket &socket) {
  if (address.isLocal()) {
    sockaddr_un local;
    const socklen_t length = localAddress(address, local);
    socket = newSocket(AF_UNIX);
    const int error = tryConnect(socket, reinterpret_cast<sockaddr *>(&local), length, deadline);
    return error == 0 ? Status() : connectError(address.text, errorText(error));
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo *list = nullptr;
  const std::string port = std::to_string(address.portOf(attempt));
  if (int code = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &list); code != 0)
    return connectError(address.at(attempt), ::gai_strerror(code));
  const std::unique_ptr<addrinfo, void (*)(addrinfo *)> owner(list, ::freeaddrinfo);
  int error = EADDRNOTAVAIL;
  for (const addrinfo *each = list; each; each = each->ai_next) {
    socket = newSocket(each->ai_family);
    error = tryConnect(socket, each->ai_addr, each->ai_addrlen, deadline);
    if (error == 0) {
      configure(socket);
      return {};
    }
  }
  return connectError(address.at(attempt), errorText(error));
}

Socket acceptFrom(const Socket &listener, int &error) {
  Socket socket(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  error = socket.isOpen() ? 0 : errno;
  if (!socket.isOpen())
    return socket;
  if (!isOwn(socket))
    return {};
  configure(socket);
  return socket;
}

std::string hostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 && name[0] ? name : "unknown";
}

} // namespace zero::rt
