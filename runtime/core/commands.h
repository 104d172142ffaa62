//===- commands.h - a rank's program with addresses -------------*- C++ -*-===//
//
// What the tables say as offsets, as pointers into one rank's arena. Made once, so
// that a step computes no address and allocates nothing.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_CORE_COMMANDS_H
#define RUNTIME_CORE_COMMANDS_H

#include "runtime/comm/communicator.h"
#include "runtime/core/program.h"

#include <variant>
#include <vector>

namespace zero::rt {

struct LaunchCommand {
  uint32_t kernel;
  std::vector<void *> args;
  int64_t length;
};

struct CollectiveCommand {
  proto::Collective::Kind kind;
  Reduction how; ///< of an all-gather, only the type counts
  uint64_t elements;
  void *source, *destination;
  bool control;
};

/// How the values of a collective that sums become one.
Reduction reductionOf(const proto::Collective &collective);

struct CheckCommand {
  const int64_t *value; ///< two of them
  int64_t lower, upper;
  const char *message;
};

struct CopyCommand {
  const void *source;
  void *destination;
  uint64_t bytes;
};

struct Command {
  std::variant<LaunchCommand, CollectiveCommand, CheckCommand, CopyCommand> body;
  proto::Command::When when;
  const uint8_t *predicate; ///< nullptr: always
  const char *label;
  bool forward; ///< an evaluation runs it
};

struct CommandSegment {
  proto::Segment::Kind kind;
  uint64_t repeat;
  std::vector<Command> commands;
  std::vector<bool> inputs; ///< by index: whether each turn writes it
  uint32_t first = 0;       ///< index of its first command among those of the program
};

/// The commands of `rank`, whose arena starts at `base`. `program` must outlive them
/// and have passed validate().
std::vector<CommandSegment> resolveCommands(const proto::Program &program, int rank, char *base);

} // namespace zero::rt

#endif // RUNTIME_CORE_COMMANDS_H
