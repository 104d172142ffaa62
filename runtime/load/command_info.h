//===- command_info.h - descriptions of commands ----------------*- C++ -*-===//

#ifndef RUNTIME_LOAD_COMMAND_INFO_H
#define RUNTIME_LOAD_COMMAND_INFO_H

#include "runtime/format/executable.pb.h"
#include "zero_rt/zero_rt.h"

namespace zero::rt {

/// A command of a program that has passed validate(). What it points to is the program's.
zero_rt_command_info commandInfo(const proto::Program &program, const proto::Command &command);

} // namespace zero::rt

#endif // RUNTIME_LOAD_COMMAND_INFO_H
