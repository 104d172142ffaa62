//===- hub_errors.cpp - errors that process 0 finds -----------------------===//

#include "runtime/processes/hub_errors.h"

namespace zero::rt {

/// Names in an error.
static constexpr size_t kShown = 4;

Status checkVersion(const ProcessName &own, const Hello &hello) {
  if (hello.protocol == kProtocol && hello.version == ZERO_VERSION)
    return {};
  const std::string other =
      hello.protocol == kProtocol ? hello.name.full() : std::string("another process");
  return fail(ZERO_RT_INVALID_ARGUMENT,
              "all processes must have the same version: %s has %s (protocol %u), %s has %s "
              "(protocol %u)",
              own.full().c_str(), ZERO_VERSION, kProtocol, other.c_str(),
              escape(hello.version.substr(0, 100)).c_str(), hello.protocol);
}

Status checkHello(const ControlOptions &options, const Peers &peers, const Hello &hello) {
  const auto refuse = [](std::string text) {
    return Status(ZERO_RT_INVALID_ARGUMENT, std::move(text));
  };
  const std::string own = peers[0].name.full(), other = hello.name.full();
  ZERO_RT_TRY(checkVersion(peers[0].name, hello));
  if (hello.processes != options.processes)
    return refuse(format("processes expect jobs of different sizes: %d processes by %s, %d by %s",
                         options.processes, own.c_str(), hello.processes, other.c_str()));
  if (hello.process < 0 || hello.process >= options.processes)
    return refuse(format("%s is process %d: expected a number less than %d", other.c_str(),
                         hello.process, options.processes));
  const Peer &same = peers[hello.process];
  if (hello.process == 0 || same.connection)
    return refuse(format("both are process %d: %s and %s", hello.process, same.name.full().c_str(),
                         other.c_str()));
  return {};
}

Status notConnected(const ControlOptions &options, const Peers &peers,
                    const std::string &turnedAway) {
  std::vector<std::string> numbers;
  for (size_t process = 1; process < peers.size(); ++process)
    if (!peers[process].connection)
      numbers.push_back(std::to_string(process));
  return fail(ZERO_RT_TIMEOUT, "process%s %s of %d did not connect to %s within %g s%s%s",
              numbers.size() == 1 ? "" : "es", listOf(numbers, kShown).c_str(), options.processes,
              escape(options.address).c_str(), options.timeoutSeconds,
              turnedAway.empty() ? "" : "; ", turnedAway.c_str());
}

Status differentCalls(const Peers &peers, const Gathering &gathering, const Message &part) {
  return fail(ZERO_RT_INTERNAL, "processes make different calls: %s is at '%s', %s at '%s'",
              peers[gathering.first()].name.full().c_str(), gathering.what().c_str(),
              peers[part.header.from].name.full().c_str(), Gathering::whatOf(part).c_str());
}

Status notArrived(const ControlOptions &options, const Peers &peers, const Gathering &gathering) {
  std::vector<std::string> names;
  for (int process = 0; process < options.processes; ++process)
    if (gathering.isMissing(process))
      names.push_back(peers[process].name.full());
  return fail(ZERO_RT_TIMEOUT, "%s did not arrive at '%s' within %g s",
              listOf(names, kShown).c_str(), gathering.what().c_str(), options.timeoutSeconds);
}

} // namespace zero::rt
