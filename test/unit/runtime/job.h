//===- job.h - processes of a test ------------------------------*- C++ -*-===//
//
// The processes are forked by a test that has no threads itself. Each one says lines, for which
// the test waits.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_RUNTIME_JOB_H
#define TEST_UNIT_RUNTIME_JOB_H

#include "runtime/processes/connection.h"
#include "runtime/processes/control_channel.h"

#include <csignal>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace zero::rt::test {

using ChannelPtr = std::unique_ptr<ControlChannel>;

/// Whether memory and time are those of a release.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif
#else
inline constexpr bool kIsSanitized = false;
#endif

/// Says a line to the test. Of a process of a Job.
void say(const std::string &line);

/// "ok", or the message.
std::string textOf(const Status &status);

/// Sleeps.
void pause(double seconds);

/// The next message of a connection, if one comes within `seconds`.
std::optional<Message> received(Connection &connection, double seconds = 5);

/// Connects two processes, or more, and ends them with the test.
class Job {
public:
  explicit Job(int processes, bool tcp = false, double timeout = 10);
  ~Job();

  /// Starts process `number` with `body`, which gets the open channel. If it cannot be opened, the
  /// process says why.
  void start(int number, std::function<void(ControlChannel &)> body);
  /// The same for all processes.
  void startAll(const std::function<void(ControlChannel &)> &body);
  /// Starts a process that runs `body`. Returns its index.
  int run(std::function<void()> body);

  /// The next line of a process, which must come within `seconds`; or "(end)" or "(silence)".
  std::string line(int index, double seconds = 10);
  void signal(int index, int number) { ::kill(children[index].pid, number); }
  /// Waits for the end of all processes, and expects that they succeed.
  void join();

  ControlOptions optionsOf(int process) const;
  /// "rank 1 on host 'a' (pid 123)"
  std::string nameOf(int index) const;
  std::string address;
  double timeout;

private:
  struct Child {
    pid_t pid = -1;
    int pipe = -1;
    std::string buffer;
    bool hasEnded = false;
  };
  int processes;
  std::vector<Child> children; ///< by process, then others
};

} // namespace zero::rt::test

#endif // TEST_UNIT_RUNTIME_JOB_H
