//===- machine_file.h - a machine description as JSON -----------*- C++ -*-===//

#ifndef RUNTIME_FORMAT_MACHINE_FILE_H
#define RUNTIME_FORMAT_MACHINE_FILE_H

#include "runtime/format/machine.pb.h"
#include "runtime/support/file.h"

namespace zero::rt {

/// Reads JSON. Errors name the field: fields that machine.proto does not have, required fields that
/// are missing, and numbers that are not positive (a latency or launch may be 0).
Status parseMachine(const std::string &text, proto::Machine &machine);

/// The same for a file, which errors also name.
Status readMachine(const std::string &path, proto::Machine &machine);

/// Writes JSON and commits the file.
Status writeMachine(OutputFile &file, const proto::Machine &machine);

} // namespace zero::rt

#endif // RUNTIME_FORMAT_MACHINE_FILE_H
