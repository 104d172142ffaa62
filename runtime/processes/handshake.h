//===- handshake.h - how a process joins its job ----------------*- C++ -*-===//
//
// - A process says a Hello: who it is, and a challenge.
// - Process 0 answers with a Welcome: who it is, its challenge, and a proof that it knows the
//   secret of the job; or with a Refused, before anything is proven.
// - The process answers with a Confirm: its own proof.
// - Process 0 answers with an Admitted or a Refused. This message and all later ones are sealed.
//
// Proofs and the keys of seals depend on the secret, on both challenges and on all that was said.
//
//===----------------------------------------------------------------------===//

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
  std::string challenge;

  /// Of this process.
  static Hello own(const ControlOptions &options);
  Message encode() const;
  /// Fails for anything but a Hello. That of another protocol only has version and job.
  static bool decode(const Message &message, Hello &hello);
};

/// "a, b and c", or the first `most` of many.
std::string listOf(const std::vector<std::string> &names, size_t most);

/// Appends a name to the body of a message, and reads it.
void append(std::string &body, const ProcessName &name);
ProcessName readName(Fields &fields);

/// What process 0 says about itself.
struct Welcome {
  ProcessName name;
  std::string challenge, proof;

  Message encode() const;
  static bool decode(const Message &message, Welcome &welcome);
};

/// What both sides prove. They have the same one if they know the same secret and have read what
/// the other one has said.
class Acquaintance {
public:
  Acquaintance(const std::string &secret, const Hello &hello, const Welcome &welcome);
  /// Of process 0, in its Welcome, or of the other process, in its Confirm.
  std::string proofOfHub() const { return proofOf(secret, "process 0", said); }
  std::string proofOfMember() const { return proofOf(secret, "process", said); }
  void sealAtHub(Connection &connection) const;
  void sealAtMember(Connection &connection) const;

private:
  std::string secret, said;
};

Message handshakeMessage(Kind kind, std::string body = {});
Message refusal(Refusal why, const Status &status);

/// A process that has joined.
struct Joined {
  std::unique_ptr<Connection> connection;
  ProcessName hub;
  std::vector<Message> early; ///< what came together with the last answer
};

/// Finds process 0, which may start later, until `deadline`, and joins its job. Nobody but process
/// 0 can end the attempts.
Status joinJob(const ControlOptions &options, const std::vector<Address> &addresses, Time deadline,
               Joined &joined);

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_HANDSHAKE_H
