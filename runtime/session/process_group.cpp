//===- process_group.cpp - CPU ranks in many processes --------------------===//

#include "runtime/session/process_group.h"

#include "runtime/comm/host/rendezvous.h"
#include "runtime/comm/host/shared_page.h"
#include "runtime/comm/mpi/mpi_link.h"
#include "runtime/processes/fields.h"
#include "runtime/support/temporary.h"

#include <unistd.h>

namespace zero::rt {

Status checkDivides(const World &world, int ranks) {
  const int processes = world.processes();
  if (ranks % processes == 0)
    return {};
  return fail(ZERO_RT_INVALID_ARGUMENT,
              "the executable has %d rank%s, which do not divide among %d processes: start %d "
              "processes, or compile with --ranks=%d",
              ranks, ranks == 1 ? "" : "s", processes, ranks, processes);
}

Placement placementOf(const World &world, int ranks) {
  std::vector<int> nodes;
  for (const World::Process &process : world.getProcesses())
    nodes.push_back(process.node);
  return {ranks / world.processes(), nodes};
}

namespace {
/// Where a process has something that its node shares.
struct Offered {
  int descriptor = -1;
  uint64_t token = 0, cookie = 0; ///< the address of a copy of the token

  std::string encode() const {
    std::string text;
    append(text, uint64_t(descriptor));
    append(text, token);
    append(text, cookie);
    return text;
  }
  static Status decode(const std::string &text, Offered &offered) {
    Fields fields(text);
    offered.descriptor = int(fields.number());
    offered.token = fields.number();
    offered.cookie = fields.number();
    return fields.isAtEnd() ? Status() : Status(ZERO_RT_INTERNAL, "a process has offered no page");
  }
};

/// Opens what the ranks of a node share.
class NodeOpener {
public:
  NodeOpener(World &world, const Placement &placement) : world(world), placement(placement) {}
  ~NodeOpener() {
    if (own.descriptor >= 0)
      ::close(own.descriptor);
  }

  Status open(double timeoutSeconds, ProcessGroup &group);

private:
  int ranksHere() const { return int(placement.ranksOf(world.node()).size()); }
  bool isLeader() const { return world.leaders()[size_t(world.node())] == world.process(); }
  Status makePage();
  Status findPage(const std::vector<Offered> &offers);
  Status tryMemory(const std::vector<Offered> &offers, const PeerMemory &memory) const;
  std::vector<pid_t> processesByPlace() const;

  World &world;
  const Placement &placement;
  SharedPage own;
  uint64_t token = 0; ///< that others read
};
} // namespace

Status NodeOpener::makePage() {
  token = randomToken();
  return isLeader() ? createSharedPage(ranksHere(), token, own) : Status();
}

Status NodeOpener::findPage(const std::vector<Offered> &offers) {
  if (isLeader())
    return {};
  const int leader = world.leaders()[size_t(world.node())];
  const Offered &offered = offers[size_t(leader)];
  return openSharedPage(world.getProcesses()[size_t(leader)].id, offered.descriptor, ranksHere(),
                        offered.token, own.page);
}

std::vector<pid_t> NodeOpener::processesByPlace() const {
  std::vector<pid_t> processes;
  for (const int rank : placement.ranksOf(world.node())) {
    const int process = placement.processOf(rank);
    processes.push_back(process == world.process() ? 0 : world.getProcesses()[size_t(process)].id);
  }
  return processes;
}

/// Reads the token of each other process of this node.
Status NodeOpener::tryMemory(const std::vector<Offered> &offers, const PeerMemory &memory) const {
  for (int place = 0; place < ranksHere(); ++place) {
    const int rank = placement.ranksOf(world.node())[size_t(place)];
    const Offered &offered = offers[size_t(placement.processOf(rank))];
    uint64_t read = 0;
    if (memory.isHere(place))
      continue;
    Status status =
        memory.read(place, reinterpret_cast<const void *>(offered.cookie), &read, sizeof(read));
    if (status.ok() && read != offered.token)
      status = Status(ZERO_RT_IO, "it is another process");
    if (!status.ok())
      return fail(ZERO_RT_UNSUPPORTED,
                  "rank %d and rank %d are on one node, but processes may not read each other's "
                  "memory: %s; allow process_vm_readv() (in containers the capability SYS_PTRACE), "
                  "or use one process for each node with --ranks-per-process",
                  placement.firstRank(world.process()), rank, status.getMessage().c_str());
  }
  return {};
}

Status NodeOpener::open(double timeoutSeconds, ProcessGroup &group) {
  allowPeersToRead();
  ZERO_RT_TRY(world.agree("shared page", makePage()));
  const Offered mine{own.descriptor, token, reinterpret_cast<uint64_t>(&token)};
  std::vector<std::string> texts;
  ZERO_RT_TRY(world.control().allGather("shared pages", mine.encode(), texts));
  std::vector<Offered> offers(texts.size());
  for (size_t i = 0; i < texts.size(); ++i)
    ZERO_RT_TRY(Offered::decode(texts[i], offers[i]));
  group.memory = PeerMemory(processesByPlace());
  Status status = findPage(offers);
  if (status.ok())
    status = tryMemory(offers, group.memory);
  ZERO_RT_TRY(world.agree("shared memory of nodes", status));
  group.node =
      std::make_shared<Rendezvous>(own.page, placement.ranksOf(world.node()), timeoutSeconds);
  return {};
}

/// Connects nodes, where there are several.
static Status openLink(World &world, const Placement &placement, double timeoutSeconds,
                       std::shared_ptr<Link> &link) {
  if (placement.nodes() == 1)
    return {};
  MpiLinkOptions options;
  options.timeoutSeconds = timeoutSeconds;
  for (int rank = 0; rank < placement.ranks(); ++rank)
    options.processOfRank.push_back(placement.processOf(rank));
  Status status = world.findMpi(options.mpi);
  std::unique_ptr<MpiLink> made;
  if (status.ok())
    status = MpiLink::open(options, made);
  if (!status.ok())
    status = fail(status.getCode(), "ranks on CPUs of %d nodes exchange messages through MPI: %s",
                  placement.nodes(), status.getMessage().c_str());
  ZERO_RT_TRY(world.agree("MPI", status));
  link = std::move(made);
  return {};
}

Status openProcessGroup(World &world, const GroupOptions &options,
                        std::vector<std::unique_ptr<Communicator>> &ends) {
  ProcessGroup group;
  group.placement = placementOf(world, options.ranks);
  group.process = world.process();
  NodeOpener opener(world, group.placement);
  ZERO_RT_TRY(opener.open(options.timeoutSeconds, group));
  ZERO_RT_TRY(openLink(world, group.placement, options.timeoutSeconds, group.link));
  ends = makeProcessGroup(options, std::move(group));
  return {};
}

} // namespace zero::rt
