//===- machine_file.h - a machine description as JSON -----------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_MACHINE_FILE_H
#define RUNTIME_FORMAT_MACHINE_FILE_H

#include "runtime/format/machine.pb.h"
#include "runtime/support/file.h"

namespace zero::rt {

/// Reads JSON. Refused, naming the field: what machine.proto does not have, what it needs
/// and is not there, numbers that are not positive (a latency or launch may be 0).
Status parseMachine(const std::string &text, proto::Machine &machine);

/// The same of a file, which errors name too.
Status readMachine(const std::string &path, proto::Machine &machine);

/// Writes JSON and commits the file.
Status writeMachine(OutputFile &file, const proto::Machine &machine);

} // namespace zero::rt

#endif // RUNTIME_FORMAT_MACHINE_FILE_H
