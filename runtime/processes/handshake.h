//===- handshake.h - how a process joins its job ----------------*- C++ -*-===//

#ifndef RUNTIME_PROCESSES_HANDSHAKE_H
#define RUNTIME_PROCESSES_HANDSHAKE_H

#include "runtime/processes/connection.h"
#include "runtime/processes/control_channel.h"

#include <memory>

namespace zero::rt {

/// Who a process is, for errors of others.
struct ProcessName {
  std::string about, host;
  uint64_t pid = 0;

  /// "rank 2 on host 'a'"
  std::string brief() const;
  /// "rank 2 on host 'a' (pid 123)"
  std::string full() const;
};

/// The first message of a process.
struct Hello {
  uint32_t protocol = kProtocol;
  std::string version, job;
  int process = 0, processes = 1;
  ProcessName name;

  /// Of this process.
  static Hello own(const ControlOptions &options);
  Message encode() const;
  /// Fails for anything but a Hello. That of another protocol only has version and job.
  static bool decode(const Message &message, Hello &hello);
};

/// Appends a name to the body of a message, and reads it.
void append(std::string &body, const ProcessName &name);
ProcessName readName(Fields &fields);

/// An answer to a Hello.
Message handshakeMessage(Kind kind, std::string body = {});
Message refusal(Refusal why, const Status &status);

/// Finds process 0, which may start later, until `deadline`, and joins its job.
Status joinJob(const ControlOptions &options, const Address &address, Time deadline,
               std::unique_ptr<Connection> &connection, ProcessName &hub);

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_HANDSHAKE_H
