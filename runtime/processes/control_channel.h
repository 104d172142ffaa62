//===- control_channel.h - small messages between processes -----*- C++ -*-===//
//
// Every process of a job has a connection to process 0, and a thread that serves it. So a process
// that ends is noticed at once, wherever the others are: the kernel closes its connection.
//
//===----------------------------------------------------------------------===//

#ifndef RUNTIME_PROCESSES_CONTROL_CHANNEL_H
#define RUNTIME_PROCESSES_CONTROL_CHANNEL_H

#include "runtime/support/status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zero::rt {

struct ControlOptions {
  int process = 0, processes = 1;
  /// "unix:@NAME", on one machine, or "tcp:HOST:PORT": process 0 listens there, the others connect.
  std::string address;
  std::vector<std::string> otherAddresses; ///< where others may reach process 0, too
  int listener = -1; ///< process 0: a socket that listens there already, which is taken over; or -1
  std::string job;   ///< processes of another job or version are refused
  /// What no other user knows: processes prove it to each other, and messages are sealed with it.
  /// It may be empty for a local socket, where the kernel tells users apart.
  std::string secret;
  std::string about;           ///< names this process in errors: "rank 2"; the host is added
  double timeoutSeconds = 120; ///< of open() and of each collective
};

/// Fails if processes that do not meet at a local socket have no secret, or a short one.
Status checkSecret(const ControlOptions &options);

/// The connections of this process to the others of its job.
///
/// The first failure of a job is that of all its processes, with the same text: later ones are not
/// reported, and collectives return it. allGather() and stream() are used by one thread at a time;
/// all other functions by any thread.
class ControlChannel {
public:
  /// Collective: returns when all processes are connected, or with an error within the timeout.
  static Status open(const ControlOptions &options, std::unique_ptr<ControlChannel> &channel);
  /// Says goodbye, so that the end of this process is no failure. Process 0 passes on messages of
  /// the others: before it closes, a last allGather() should make sure that they need no more. Not
  /// to be called by a handler.
  ~ControlChannel();

  int process() const;
  int processes() const;

  /// Every process gives `own` and gets those of all, by process: at most 64 MiB together.
  /// Collective; `what` names it in errors. Fails within the timeout, naming who is missing, or at
  /// once after a failure.
  Status allGather(const char *what, std::string_view own, std::vector<std::string> &all);

  /// Reads a piece of at most 1 MiB into memory, or writes it from there.
  using Read = std::function<Status(char *piece, uint64_t offset, uint64_t count)>;
  using Write = std::function<Status(const char *piece, uint64_t offset, uint64_t count)>;
  /// Sends `bytes` bytes from process `from`, which reads them, to process `to`, which writes them,
  /// in order. All processes call it with the same arguments; those that are neither return at
  /// once. At most 4 pieces are on their way. The timeout is that of each piece. An error of `read`
  /// or `write` is a failure of the job.
  Status stream(const char *what, int from, int to, uint64_t bytes, const Read &read,
                const Write &write);

  /// Is called once, on the channel's thread, when the job has failed by another process: it called
  /// fail(), its connection was lost, or it did not arrive. The reason names it: "rank 2 on host
  /// 'a' (pid 123) ended unexpectedly". If the job has failed already, it is called immediately.
  /// The others know of the failure by then, so that the handler may end the process.
  void onFailure(std::function<void(const Status &)> handler);
  /// Tells all others that this process has failed, and why. Waits until the failure of the job is
  /// known, which is this one unless another came first, but no longer than a second.
  void fail(const Status &reason);
  /// The failure of the job, or ok.
  Status failure() const;

  /// Asks all processes how far they are, for example for an error after a timeout. Returns, for
  /// each process, the text that its onProgress() callback returned, or nothing if it has not
  /// answered within `seconds`: it is stopped, cannot be reached, or has ended. Any process may ask
  /// at any time, also after a failure. A handler on the channel's thread gets no answers.
  std::vector<std::optional<std::string>> askProgress(double seconds);
  /// `answer` is called on the channel's thread, also while others wait in collectives. Without it,
  /// the answer is empty.
  void onProgress(std::function<std::string()> answer);

private:
  class Conversation;
  explicit ControlChannel(std::unique_ptr<Conversation> conversation);
  std::unique_ptr<Conversation> conversation;
};

} // namespace zero::rt

#endif // RUNTIME_PROCESSES_CONTROL_CHANNEL_H
