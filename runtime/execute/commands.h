//===- commands.h - a rank's program with addresses -------------*- C++ -*-===//
//
// What the tables say as offsets, as pointers into one rank's arena. Made once, so
// that a step computes no address and allocates nothing.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_EXECUTE_COMMANDS_H
#define RUNTIME_EXECUTE_COMMANDS_H

#include "runtime/comm/communicator.h"
#include "runtime/device/device.h"
#include "runtime/load/program.h"

#include <array>
#include <variant>
#include <vector>

namespace zero::rt {

struct LaunchCommand {
  uint32_t kernel;
  std::vector<void *> args;
  int64_t length;
  FiniteCheck *check = nullptr; ///< of the gradient that it reads, if any
};

/// Gives `launch` to `queue`.
inline Status launch(Queue &queue, const LaunchCommand &launch) {
  return launch.check
             ? queue.launchChecked(launch.kernel, launch.args.data(), launch.length, *launch.check)
             : queue.launch(launch.kernel, launch.args.data(), launch.length);
}

struct CollectiveCommand {
  proto::Collective::Kind kind;
  Reduction how; ///< of an all-gather, only the type counts
  uint64_t elements;
  void *source, *destination;
  bool control;
  int root;                ///< of a broadcast
  AxisSet axes = kAllAxes; ///< of its groups
  std::vector<int> slices; ///< see Call::slices
};

/// Takes part in `collective`, which is called `label` and the `index`th of its step.
Status runCollective(Communicator &communicator, const CollectiveCommand &collective,
                     const char *label, uint64_t index);

struct CheckCommand {
  uint32_t window; ///< of two int64
  int64_t lower, upper;
  const char *message;
  bool deferred; ///< the step may go on before the value is known
};

struct CopyCommand {
  const void *source;
  void *destination;
  uint64_t bytes;
  CopyKind kind;
};

/// Between the host's memory and the rank's file of the nvme tier.
struct DiskCommand {
  bool writes; ///< to the file
  void *memory;
  uint64_t offset, bytes; ///< in the tier's arena
};

struct Command {
  std::variant<LaunchCommand, CollectiveCommand, CheckCommand, CopyCommand, DiskCommand> body;
  proto::Command::When when;
  uint32_t predicate; ///< 0: always; else 1 + its index
  const char *label;
  bool forward, delayed; ///< see runsIn()
  Order order = {};      ///< beyond its lane: of a device with lanes, see numberSignals()
  std::vector<uint32_t> settles = {}; ///< predicates that it may write
};

struct CommandSegment {
  proto::Segment::Kind kind;
  uint64_t repeat;
  std::vector<Command> commands;
  std::vector<bool> inputs; ///< by index: whether each iteration writes it
  uint32_t first = 0;       ///< index of its first command among those of the program

  /// The index of one of its commands among those of the program.
  uint32_t indexOf(const Command &command) const {
    return uint32_t(&command - commands.data()) + first;
  }
};

/// The start of each of a rank's arenas in memory, by tier; the nvme tier has none.
using ArenaBases = std::array<char *, proto::Tier_ARRAYSIZE>;

/// The commands of `rank`, whose arenas start at `bases`. `program` must outlive them
/// and have passed validate(). The windows of checks are numbered from `firstCheck` on, in
/// the order of the commands.
std::vector<CommandSegment> resolveCommands(const proto::Program &program, int rank,
                                            const ArenaBases &bases, uint32_t firstCheck);

/// For a device with lanes, sets the order of each command relative to others and the predicates
/// that it may change on `rank`. Returns the number of signals: one for each command of the device
/// for which another waits. Waits for commands of the host's lanes have none: see LanePlan. Orders
/// do not cross iterations and segments, because lanes synchronize between them.
uint32_t numberSignals(const proto::Program &program, int rank,
                       std::vector<CommandSegment> &segments);

} // namespace zero::rt

#endif // RUNTIME_EXECUTE_COMMANDS_H
