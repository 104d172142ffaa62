//===- socket.cpp - sockets between the processes of a job ----------------===//

#include "runtime/processes/socket.h"

#include "runtime/support/checked.h"

#include <arpa/inet.h>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <sstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace zero::rt {

Socket::~Socket() {
  if (descriptor >= 0)
    ::close(descriptor);
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

//===----------------------------------------------------------------------===//
// Listening
//===----------------------------------------------------------------------===//

/// Listens at `name`, or returns errno.
static int tryListen(int family, const sockaddr *name, socklen_t length, Socket &listener) {
  listener = newSocket(family);
  if (!listener.isOpen())
    return errno;
  if (family != AF_UNIX)
    set(listener, SOL_SOCKET, SO_REUSEADDR, 1);
  if (family == AF_INET6)
    set(listener, IPPROTO_IPV6, IPV6_V6ONLY, 0); // IPv4, too
  if (::bind(listener.get(), name, length) != 0 || ::listen(listener.get(), SOMAXCONN) != 0)
    return errno;
  return 0;
}

static int tryListenEverywhere(int port, Socket &listener) {
  sockaddr_in6 all = {};
  all.sin6_family = AF_INET6;
  all.sin6_port = htons(uint16_t(port));
  if (const int error =
          tryListen(AF_INET6, reinterpret_cast<sockaddr *>(&all), sizeof(all), listener);
      error != EAFNOSUPPORT)
    return error;
  sockaddr_in old = {}; // a kernel without IPv6
  old.sin_family = AF_INET;
  old.sin_port = htons(uint16_t(port));
  return tryListen(AF_INET, reinterpret_cast<sockaddr *>(&old), sizeof(old), listener);
}

static bool isLoopback(const sockaddr *name) {
  if (name->sa_family == AF_INET)
    return ntohl(reinterpret_cast<const sockaddr_in *>(name)->sin_addr.s_addr) >> 24 == 127;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6 *>(name)->sin6_addr);
}

bool meansLoopback(const std::string &host) {
  sockaddr_in ipv4 = {};
  ipv4.sin_family = AF_INET;
  if (::inet_pton(AF_INET, host.c_str(), &ipv4.sin_addr) == 1)
    return isLoopback(reinterpret_cast<sockaddr *>(&ipv4));
  return host == "localhost" || host == "::1";
}

using Names = std::unique_ptr<addrinfo, void (*)(addrinfo *)>;

/// The addresses of a host; empty and the reason if there are none.
static Names resolve(const Address &address, std::string &error) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo *list = nullptr;
  const std::string port = std::to_string(address.port);
  if (const int code = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &list); code != 0)
    error = ::gai_strerror(code);
  return {list, ::freeaddrinfo};
}

/// The first address of the host that is one of this machine. Debian gives the name of a machine
/// the address 127.0.1.1, and other names may belong to a gateway: then all interfaces.
static int tryListenAtHost(const Address &address, Socket &listener) {
  std::string unknown;
  const Names names = resolve(address, unknown);
  for (const addrinfo *each = names.get(); each; each = each->ai_next) {
    if (isLoopback(each->ai_addr) && !meansLoopback(address.host))
      continue;
    const int error = tryListen(each->ai_family, each->ai_addr, each->ai_addrlen, listener);
    if (error != EADDRNOTAVAIL && error != EAFNOSUPPORT)
      return error;
  }
  return tryListenEverywhere(address.port, listener);
}

static int tryListenAt(const Address &address, Socket &listener) {
  if (!address.isLocal())
    return address.host == kEverywhere ? tryListenEverywhere(address.port, listener)
                                       : tryListenAtHost(address, listener);
  sockaddr_un local;
  const socklen_t length = localAddress(address, local);
  return tryListen(AF_UNIX, reinterpret_cast<sockaddr *>(&local), length, listener);
}

static std::optional<uid_t> userAt(const Socket &socket) {
  ucred other = {};
  socklen_t length = sizeof(other);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &other, &length) != 0)
    return std::nullopt;
  return other.uid;
}

/// The user whose process listens at `port` of TCP, as the kernel's tables say.
static std::optional<uid_t> listenerOfPort(int port) {
  const std::string place = format(":%04X", port);
  for (const char *table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      std::string number, local, remote, state, queues, timer, retries, user;
      std::istringstream(line) >> number >> local >> remote >> state >> queues >> timer >>
          retries >> user;
      uid_t found = 0;
      constexpr char kListens[] = "0A";
      if (state == kListens && local.ends_with(place) && parseInteger(user, found))
        return found;
    }
  }
  return std::nullopt;
}

/// The user whose process listens at `address` already, if known.
static std::optional<uid_t> listenerAt(const Address &address) {
  if (!address.isLocal())
    return listenerOfPort(address.port);
  sockaddr_un local;
  const socklen_t length = localAddress(address, local);
  const Socket socket = newSocket(AF_UNIX);
  if (!socket.isOpen() ||
      ::connect(socket.get(), reinterpret_cast<sockaddr *>(&local), length) != 0)
    return std::nullopt;
  return userAt(socket);
}

Status listenAt(const Address &address, Time deadline, Socket &listener) {
  constexpr double kPatience = 10; // for a process of this user to end
  const Time end = std::min(deadline, after(kPatience));
  for (;;) {
    const int error = tryListenAt(address, listener);
    if (error == 0)
      return {};
    const std::string where = escape(address.text);
    if (error != EADDRINUSE)
      return fail(ZERO_RT_IO, "cannot listen at %s: %s", where.c_str(), errorText(error).c_str());
    const std::optional<uid_t> user = listenerAt(address);
    if (user && *user != ::geteuid())
      return fail(ZERO_RT_IO, "cannot listen at %s: a process of user %u listens there",
                  where.c_str(), *user);
    if (Clock::now() >= end)
      return fail(ZERO_RT_IO, "cannot listen at %s: %s listens there", where.c_str(),
                  user ? "another process of this user" : "another process");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

static sockaddr_storage boundTo(const Socket &listener) {
  sockaddr_storage bound = {};
  socklen_t length = sizeof(bound);
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr *>(&bound), &length) != 0)
    return {};
  return bound;
}

bool isEverywhere(const Socket &listener) {
  const sockaddr_storage bound = boundTo(listener);
  if (bound.ss_family == AF_INET)
    return reinterpret_cast<const sockaddr_in &>(bound).sin_addr.s_addr == INADDR_ANY;
  return bound.ss_family == AF_INET6 &&
         IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6 &>(bound).sin6_addr);
}

int portOf(const Socket &listener) {
  const sockaddr_storage bound = boundTo(listener);
  if (bound.ss_family == AF_INET)
    return ntohs(reinterpret_cast<const sockaddr_in &>(bound).sin_port);
  return bound.ss_family == AF_INET6
             ? ntohs(reinterpret_cast<const sockaddr_in6 &>(bound).sin6_port)
             : 0;
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

//===----------------------------------------------------------------------===//
// Connecting
//===----------------------------------------------------------------------===//

/// Whether the other end is a process of this user, or may be on another machine.
static bool isOwn(const Socket &socket) {
  int family = 0;
  socklen_t length = sizeof(family);
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &family, &length) != 0 || family != AF_UNIX)
    return true;
  return userAt(socket) == ::geteuid();
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

Status connectTo(const Address &address, Time deadline, Socket &socket) {
  if (address.isLocal()) {
    sockaddr_un local;
    const socklen_t length = localAddress(address, local);
    socket = newSocket(AF_UNIX);
    const int error = tryConnect(socket, reinterpret_cast<sockaddr *>(&local), length, deadline);
    if (error == EPERM)
      return connectError(address.text, "a process of another user listens there");
    return error == 0 ? Status() : connectError(address.text, errorText(error));
  }
  std::string unknown;
  const Names names = resolve(address, unknown);
  if (!names)
    return connectError(address.text, unknown);
  int error = EADDRNOTAVAIL;
  for (const addrinfo *each = names.get(); each; each = each->ai_next) {
    socket = newSocket(each->ai_family);
    error = tryConnect(socket, each->ai_addr, each->ai_addrlen, deadline);
    if (error == 0) {
      configure(socket);
      return {};
    }
  }
  return connectError(address.text, errorText(error));
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
