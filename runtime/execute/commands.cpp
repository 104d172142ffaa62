//===- commands.cpp - a rank's program with addresses ---------------------===//

#include "runtime/execute/commands.h"

#include "runtime/format/accesses.h"
#include "runtime/format/collectives.h"
#include "runtime/format/tables.h"
#include "runtime/load/reduction.h"

#include <algorithm>

namespace zero::rt {

Status runCollective(Communicator &communicator, const CollectiveCommand &collective,
                     const char *label, uint64_t index) {
  const Call call{label, index, collective.control, collective.axes, collective.slices};
  switch (collective.kind) {
  case proto::Collective::ALL_GATHER:
    return communicator.allGather(call, collective.how.dtype, collective.source,
                                  collective.destination, collective.elements);
  case proto::Collective::REDUCE_SCATTER:
    return communicator.reduceScatter(call, collective.how, collective.source,
                                      collective.destination, collective.elements);
  case proto::Collective::BROADCAST:
    return communicator.broadcast(call, collective.how.dtype, collective.source,
                                  collective.destination, collective.elements, collective.root);
  default:
    return communicator.allReduce(call, collective.how, collective.destination,
                                  collective.elements);
  }
}

namespace {
class Resolver {
public:
  Resolver(const Mesh &mesh, int rank, const ArenaBases &bases, uint32_t firstCheck)
      : mesh(mesh), rank(rank), bases(bases), nextCheck(firstCheck) {}

  Command resolve(const proto::Command &command) {
    return {resolveBody(command),          command.when(),    command.predicate(),
            command.label().c_str(),       command.forward(), command.delayed(),
            {uint32_t(command.lane()), {}}};
  }

private:
  char *at(const proto::Address &address) const {
    return bases[size_t(address.tier())] + placeOf(mesh, address, rank);
  }

  /// A copy within the host's memory is none of the device.
  static CopyKind kindOf(proto::Tier from, proto::Tier to) {
    return from == to            ? CopyKind::DeviceToDevice
           : from == proto::HOST ? CopyKind::HostToDevice
                                 : CopyKind::DeviceToHost;
  }

  decltype(Command::body) resolveCopy(const proto::Copy &copy) const {
    const bool writes = copy.dst().tier() == proto::NVME;
    if (!writes && copy.src().tier() != proto::NVME)
      return CopyCommand{at(copy.src()), at(copy.dst()), copy.bytes(),
                         kindOf(copy.src().tier(), copy.dst().tier())};
    const proto::Address &memory = writes ? copy.src() : copy.dst();
    return DiskCommand{writes, at(memory), placeOf(mesh, writes ? copy.dst() : copy.src(), rank),
                       copy.bytes()};
  }

  decltype(Command::body) resolveBody(const proto::Command &command) {
    switch (command.body_case()) {
    case proto::Command::kCollective: {
      const proto::Collective &from = command.collective();
      return CollectiveCommand{from.kind(),      reductionOf(from),     from.elements(),
                               at(from.src()),   at(from.dst()),        from.control(),
                               int(from.root()), groupAxes(mesh, from), sliceNumbers(mesh, from)};
    }
    case proto::Command::kCheck: {
      const proto::Check &from = command.check();
      return CheckCommand{nextCheck++, from.lower(), from.upper(), from.message().c_str(),
                          from.deferred()};
    }
    case proto::Command::kCopy:
      return resolveCopy(command.copy());
    default:
      break;
    }
    LaunchCommand launch{command.launch().kernel(), {}, command.launch().length()};
    for (const proto::Address &address : command.launch().args())
      launch.args.push_back(at(address));
    return launch;
  }

  Mesh mesh;
  int rank;
  const ArenaBases &bases;
  uint32_t nextCheck;
};
} // namespace

std::vector<CommandSegment> resolveCommands(const proto::Program &program, int rank,
                                            const ArenaBases &bases, uint32_t firstCheck) {
  Resolver resolver(meshOf(program), rank, bases, firstCheck);
  std::vector<CommandSegment> segments;
  uint32_t first = 0;
  for (const proto::Segment &segment : program.segments()) {
    CommandSegment made{segment.kind(), std::max<uint64_t>(segment.repeat(), 1), {}, {}, first};
    first += uint32_t(segment.commands_size());
    made.inputs.resize(size_t(program.inputs_size()));
    for (uint32_t input : segment.inputs())
      made.inputs[input] = true;
    for (const proto::Command &command : segment.commands())
      made.commands.push_back(resolver.resolve(command));
    segments.push_back(std::move(made));
  }
  return segments;
}

/// The predicates that `command` may write.
static std::vector<uint32_t> settledBy(const proto::Program &program, const proto::Command &command,
                                       int rank) {
  std::vector<uint32_t> settled;
  const std::vector<Access> accesses = accessesOf(program, command, rank);
  for (int i = 0; i < program.predicates_size(); ++i) {
    const uint64_t place = placeOf(meshOf(program), program.predicates(i), rank);
    if (std::any_of(accesses.begin(), accesses.end(), [place](const Access &access) {
          return access.writes && access.range.begin <= place && place < access.range.end;
        }))
      settled.push_back(uint32_t(i));
  }
  return settled;
}

uint32_t numberSignals(const proto::Program &program, int rank,
                       std::vector<CommandSegment> &segments) {
  uint32_t signals = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    std::vector<Command> &commands = segments[i].commands;
    for (size_t index = 0; index < commands.size(); ++index) {
      const proto::Command &source = program.segments(int(i)).commands(int(index));
      Command &command = commands[index];
      command.settles = settledBy(program, source, rank);
      for (uint32_t wait : source.waits()) {
        if (isHostLane(program.segments(int(i)).commands(int(wait)).lane()))
          continue;
        Order &earlier = commands[wait].order;
        if (earlier.signal < 0)
          earlier.signal = int32_t(signals++);
        if (!isHostLane(source.lane()))
          command.order.waits.push_back(uint32_t(earlier.signal));
      }
    }
  }
  return signals;
}

} // namespace zero::rt
