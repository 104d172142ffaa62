//===- invitation.cpp - where process 0 can be reached --------------------===//

#include "runtime/processes/invitation.h"

#include "runtime/support/checked.h"
#include "runtime/support/file.h"

#include <algorithm>
#include <arpa/inet.h>
#include <bit>
#include <chrono>
#include <fstream>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace zero::rt {

static std::string inodeOf(const char *path) {
  struct stat info;
  return ::stat(path, &info) == 0 ? std::to_string(info.st_ino) : std::string();
}

std::string nodeKey() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return boot + " " + inodeOf("/proc/self/ns/pid") + " " + inodeOf("/proc/self/ns/net");
}

/// Lines of a text, each with its end.
static std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t end = 0; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    lines.emplace_back(text.substr(0, end));
  return lines;
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

/// The IPv4 addresses of this machine that others may reach.
static std::vector<std::string> ownNetworks() {
  std::vector<std::string> found;
  ifaddrs *all = nullptr;
  if (::getifaddrs(&all) != 0)
    return found;
  for (const ifaddrs *each = all; each; each = each->ifa_next) {
    if (!each->ifa_addr || !each->ifa_netmask || each->ifa_addr->sa_family != AF_INET ||
        (each->ifa_flags & IFF_LOOPBACK) || !(each->ifa_flags & IFF_UP))
      continue;
    char text[INET_ADDRSTRLEN];
    const auto *address = reinterpret_cast<const sockaddr_in *>(each->ifa_addr);
    const auto *mask = reinterpret_cast<const sockaddr_in *>(each->ifa_netmask);
    if (::inet_ntop(AF_INET, &address->sin_addr, text, sizeof(text)))
      found.push_back(format("%s/%d", text, std::popcount(mask->sin_addr.s_addr)));
  }
  ::freeifaddrs(all);
  return found;
}

static std::string hostOf(const std::string &network) {
  return network.substr(0, network.find('/'));
}

/// Whether the address of `other` is in `network`.
static bool contains(const std::string &network, const std::string &other) {
  const size_t slash = network.find('/');
  int length = 32;
  if (slash != network.npos)
    (void)parseInteger(std::string_view(network).substr(slash + 1), length);
  in_addr left{}, right{};
  ::inet_pton(AF_INET, hostOf(network).c_str(), &left);
  ::inet_pton(AF_INET, hostOf(other).c_str(), &right);
  const uint32_t mask = length <= 0 ? 0 : ~uint32_t(0) << (32 - std::min(length, 32));
  return ((ntohl(left.s_addr) ^ ntohl(right.s_addr)) & mask) == 0;
}

//===----------------------------------------------------------------------===//
// Invitations
//===----------------------------------------------------------------------===//

Status Invitation::make(Socket &listener, Invitation &invitation) {
  Address address;
  address.text = "a port of this machine"; // 0: any
  ZERO_RT_TRY(listenAt(address, listener));
  sockaddr_storage bound{};
  socklen_t length = sizeof(bound);
  ::getsockname(listener.get(), reinterpret_cast<sockaddr *>(&bound), &length);
  const int port =
      ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6 &>(bound).sin6_port
                                        : reinterpret_cast<const sockaddr_in &>(bound).sin_port);
  invitation = {port, std::to_string(randomToken()), nodeKey(), ownNetworks()};
  return {};
}

std::string Invitation::encode() const {
  std::string text = std::to_string(port) + "\n" + job + "\n" + node + "\n";
  for (const std::string &network : networks)
    text += network + "\n";
  return text;
}

Status Invitation::decode(std::string_view text, Invitation &invitation) {
  const std::vector<std::string> lines = linesOf(text);
  if (lines.size() < 3 || !parseInteger(std::string_view(lines[0]), invitation.port))
    return fail(ZERO_RT_BAD_DATA, "expected the address of process 0");
  invitation.job = lines[1];
  invitation.node = lines[2];
  invitation.networks.assign(lines.begin() + 3, lines.end());
  return {};
}

Status Invitation::findAddress(std::string &address) const {
  std::string host = "127.0.0.1";
  if (node != nodeKey()) {
    if (networks.empty())
      return fail(ZERO_RT_UNSUPPORTED, "process 0 is on a machine without a network");
    host = hostOf(networks.front());
    for (const std::string &theirs : networks)
      for (const std::string &mine : ownNetworks())
        if (contains(mine, theirs))
          host = hostOf(theirs);
  }
  address = "tcp:" + host + ":" + std::to_string(port);
  return {};
}

Status writeInvitation(const std::string &path, const Invitation &invitation) {
  if (::access(path.c_str(), F_OK) == 0)
    return fail(ZERO_RT_INVALID_ARGUMENT,
                "'%s' exists already, perhaps from an earlier run: remove it",
                escape(path).c_str());
  OutputFile file; // renamed when it is complete
  ZERO_RT_TRY(OutputFile::create(path, file));
  const std::string text = invitation.encode();
  ZERO_RT_TRY(file.write(text.data(), text.size()));
  return file.commit();
}

Status readInvitation(const std::string &path, double timeoutSeconds, Invitation &invitation) {
  const Time deadline = after(timeoutSeconds);
  for (;;) {
    InputFile file;
    if (::access(path.c_str(), R_OK) == 0 && InputFile::open(path, file).ok()) {
      std::string text(size_t(file.size()), 0);
      ZERO_RT_TRY(file.read(0, text.data(), text.size()));
      Status status = Invitation::decode(text, invitation);
      return status.ok() ? status
                         : fail(status.getCode(), "'%s': %s", escape(path).c_str(),
                                status.getMessage().c_str());
    }
    if (Clock::now() > deadline)
      return fail(ZERO_RT_TIMEOUT, "process 0 did not write '%s' within %g s", escape(path).c_str(),
                  timeoutSeconds);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

} // namespace zero::rt
