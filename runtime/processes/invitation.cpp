//===- invitation.cpp - where process 0 can be reached --------------------===//

#include "runtime/processes/invitation.h"

#include "runtime/processes/secret.h"
#include "runtime/support/checked.h"
#include "runtime/support/temporary.h"

#include <algorithm>
#include <arpa/inet.h>
#include <bit>
#include <chrono>
#include <fstream>
#include <functional>
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

namespace {
struct Network {
  std::string interface, address; ///< "eth0", "10.0.0.1/24"
};
} // namespace

/// The IPv4 addresses of this machine.
static std::vector<Network> ownNetworks() {
  std::vector<Network> found;
  ifaddrs *all = nullptr;
  if (::getifaddrs(&all) != 0)
    return found;
  for (const ifaddrs *each = all; each; each = each->ifa_next) {
    if (!each->ifa_addr || !each->ifa_netmask || each->ifa_addr->sa_family != AF_INET ||
        !(each->ifa_flags & IFF_UP))
      continue;
    char text[INET_ADDRSTRLEN];
    const auto *address = reinterpret_cast<const sockaddr_in *>(each->ifa_addr);
    const auto *mask = reinterpret_cast<const sockaddr_in *>(each->ifa_netmask);
    if (::inet_ntop(AF_INET, &address->sin_addr, text, sizeof(text)))
      found.push_back(
          {each->ifa_name, format("%s/%d", text, std::popcount(mask->sin_addr.s_addr))});
  }
  ::freeifaddrs(all);
  return found;
}

/// Whether an interface connects containers or virtual machines of this machine. Many machines have
/// the same address there.
static bool isInside(const std::string &interface) {
  for (const char *prefix : {"docker", "br-", "virbr", "cni", "podman", "lxcbr", "lxdbr"})
    if (interface.starts_with(prefix))
      return true;
  return false;
}

static std::string hostOf(const std::string &network) {
  return network.substr(0, network.find('/'));
}

static int lengthOf(const std::string &network) {
  int length = 32;
  if (const size_t slash = network.find('/'); slash != network.npos)
    (void)parseInteger(std::string_view(network).substr(slash + 1), length);
  return std::clamp(length, 0, 32);
}

/// Whether the address of `other` is in `network`.
static bool contains(const std::string &network, const std::string &other) {
  in_addr left{}, right{};
  ::inet_pton(AF_INET, hostOf(network).c_str(), &left);
  ::inet_pton(AF_INET, hostOf(other).c_str(), &right);
  const int length = lengthOf(network);
  const uint32_t mask = length == 0 ? 0 : ~uint32_t(0) << (32 - length);
  return ((ntohl(left.s_addr) ^ ntohl(right.s_addr)) & mask) == 0;
}

//===----------------------------------------------------------------------===//
// Invitations
//===----------------------------------------------------------------------===//

/// The address of `interface`, which may be the address itself.
static Status findInterface(const std::string &interface, Network &network) {
  std::string names;
  for (const Network &each : ownNetworks()) {
    network = each;
    if (each.interface == interface || hostOf(each.address) == interface)
      return {};
    names += (names.empty() ? "" : ", ") + escape(each.interface) + " (" + each.address + ")";
  }
  return fail(ZERO_RT_INVALID_ARGUMENT,
              "--interface=%s: expected the name or the IPv4 address of one of %s",
              escape(interface).c_str(), names.empty() ? "no interfaces" : names.c_str());
}

Status Invitation::make(bool isOneMachine, const std::string &interface, Socket &listener,
                        Invitation &invitation) {
  Network only{"lo", "127.0.0.1/8"};
  if (!interface.empty())
    ZERO_RT_TRY(findInterface(interface, only));
  Address address; // port 0: any
  const bool isEverywhere = interface.empty() && !isOneMachine;
  address.host = isEverywhere ? kEverywhere : hostOf(only.address);
  address.text = "a port of " + (isEverywhere ? std::string("this machine") : address.host);
  ZERO_RT_TRY(listenAt(address, Clock::now(), listener));
  invitation = {portOf(listener), std::to_string(randomToken()), newSecret(), nodeKey(), {}};
  if (!isEverywhere)
    invitation.networks.push_back(only.address);
  else
    for (const Network &each : ownNetworks())
      if (!isInside(each.interface))
        invitation.networks.push_back(each.address);
  return invitation.networks.empty()
             ? fail(ZERO_RT_UNSUPPORTED, "this machine has no IPv4 address that others could reach")
             : Status();
}

std::string Invitation::encode() const {
  std::string text = std::to_string(port) + "\n" + job + "\n" + secret + "\n" + node + "\n";
  for (const std::string &network : networks)
    text += network + "\n";
  return text;
}

Status Invitation::decode(std::string_view text, Invitation &invitation) {
  const std::vector<std::string> lines = linesOf(text);
  if (lines.size() < 4 || !parseInteger(std::string_view(lines[0]), invitation.port))
    return fail(ZERO_RT_BAD_DATA, "expected the address of process 0");
  invitation.job = lines[1];
  invitation.secret = lines[2];
  invitation.node = lines[3];
  invitation.networks.assign(lines.begin() + 4, lines.end());
  return {};
}

Status Invitation::findAddresses(std::vector<std::string> &addresses) const {
  const bool isSameNode = node == nodeKey();
  const std::vector<Network> own = ownNetworks();
  const auto isMine = [&](const std::string &address) {
    return hostOf(address).starts_with("127.") ||
           std::ranges::any_of(
               own, [&](const Network &each) { return hostOf(each.address) == hostOf(address); });
  };
  // The length of the smallest network of this machine that has the address; -1: none.
  const auto nearness = [&](const std::string &address) {
    int most = -1;
    for (const Network &each : own)
      if (contains(each.address, address))
        most = std::max(most, lengthOf(each.address));
    return most;
  };
  std::vector<std::string> candidates = networks;
  if (!isSameNode)
    std::erase_if(candidates, isMine);
  std::ranges::stable_sort(candidates, std::greater(), nearness);
  if (isSameNode) // the loopback is never slower
    std::ranges::stable_partition(
        candidates, [](const std::string &address) { return address.starts_with("127."); });
  addresses.clear();
  for (const std::string &each : candidates)
    addresses.push_back("tcp:" + hostOf(each) + ":" + std::to_string(port));
  if (!addresses.empty())
    return {};
  std::string offered;
  for (const std::string &each : networks)
    offered += (offered.empty() ? "" : ", ") + each;
  return fail(ZERO_RT_UNSUPPORTED,
              "process 0 is on another machine, and can only be reached at addresses that this "
              "machine has itself (%s): choose a network with --interface",
              offered.empty() ? "none" : escape(offered).c_str());
}

Status readInvitation(const std::string &path, double timeoutSeconds, Invitation &invitation) {
  const Time deadline = after(timeoutSeconds);
  while (::access(path.c_str(), F_OK) != 0) {
    if (Clock::now() > deadline)
      return fail(ZERO_RT_TIMEOUT, "process 0 did not write '%s' within %g s", escape(path).c_str(),
                  timeoutSeconds);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::string text;
  ZERO_RT_TRY(readPrivateFile(path, text));
  Status status = Invitation::decode(text, invitation);
  return status.ok() ? status
                     : fail(status.getCode(), "'%s': %s", escape(path).c_str(),
                            status.getMessage().c_str());
}

} // namespace zero::rt
