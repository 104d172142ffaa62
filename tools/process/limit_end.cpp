//===- limit_end.cpp - a process that ends another one that does not ------===//

#include "tools/process/limit_end.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace zero::process {

using Clock = std::chrono::steady_clock;

/// A number of milliseconds that poll() takes.
static constexpr double kMostSeconds = 1e6;

/// Whether the process of `descriptor` ends before `deadline`.
static bool endsBefore(int descriptor, Clock::time_point deadline) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ended = {descriptor, POLLIN, 0};
    const int count = ::poll(&ended, 1, int(std::max<int64_t>(left, 0)));
    if (count > 0 || (count < 0 && errno != EINTR))
      return true;
    if (count == 0)
      return false;
  }
}

/// What the child does. It is the copy of a process with threads, so it calls the kernel only.
[[noreturn]] static void watch(pid_t parent, std::chrono::milliseconds limit, const char *error) {
  using namespace std::chrono_literals;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    std::signal(signal, SIG_DFL);
  (void)::syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0); // others wait for their end
  (void)::close(STDIN_FILENO);
  (void)::close(STDOUT_FILENO);
  const int descriptor = int(::syscall(SYS_pidfd_open, parent, 0));
  if (descriptor < 0 || ::getppid() != parent || endsBefore(descriptor, Clock::now() + limit))
    ::_exit(0);
  // If both were stopped, as by a batch system that suspends jobs, the time is not the parent's.
  if (!endsBefore(descriptor, Clock::now() + 1s)) {
    (void)!::write(STDERR_FILENO, error, std::strlen(error));
    (void)::syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, nullptr, 0);
  }
  ::_exit(0);
}

void limitEnd(double seconds, const std::string &error) {
  const pid_t parent = ::getpid();
  const std::chrono::milliseconds limit(int64_t(std::min(seconds, kMostSeconds) * 1000));
  const std::string line = error + "\n";
  // Unlike fork(), it runs no handlers of libraries, such as those of MPI.
  if (::_Fork() == 0)
    watch(parent, limit, line.c_str());
}

} // namespace zero::process
