//===- validate_commands.h - validate commands ------------------*- C++ -*-===//

#ifndef RUNTIME_LOAD_VALIDATE_COMMANDS_H
#define RUNTIME_LOAD_VALIDATE_COMMANDS_H

#include "runtime/load/bounds.h"

namespace zero::rt {

/// Checks kernels, segments and their commands, but for the order of lanes.
Status validateCommands(const proto::Program &program, const Bounds &bounds);

} // namespace zero::rt

#endif // RUNTIME_LOAD_VALIDATE_COMMANDS_H
