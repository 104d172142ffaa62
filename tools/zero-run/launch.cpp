//===- launch.cpp - start the processes of a run --------------------------===//

#include "launch.h"

#include "runtime/support/temporary.h"
#include "tools/process/process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace zero::rt;

namespace zero::run {

/// How long the others may take to end by themselves when one has failed.
static constexpr std::chrono::seconds kGrace{5};

bool isLauncher(const Options &options) {
  return options.processes && !std::getenv("ZERO_PROCESS");
}

namespace {
/// The processes that were started and have not ended.
class Children {
public:
  ~Children() { signal(SIGKILL); }

  Status start(int number, char **arguments, const std::string &job, int processes);
  void signal(int number) const {
    for (const Child &child : all)
      ::kill(child.id, number);
  }
  bool isEmpty() const { return all.empty(); }
  /// Waits until one has ended, or a signal came. `code`: that of the first one that failed.
  void wait(int &code);

private:
  struct Child {
    pid_t id;
    int descriptor; ///< readable when it has ended
  };
  std::vector<Child> all;
};
} // namespace

static void setNumber(const char *name, int value) {
  ::setenv(name, std::to_string(value).c_str(), 1);
}

/// In a group of its own, so that a terminal's Ctrl-C reaches it once, through its parent, with
/// which it ends.
static void becomeChild(int process, int processes, const std::string &job, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(1);
  setNumber("ZERO_PROCESS", process);
  setNumber("ZERO_PROCESSES", processes);
  ::setenv("ZERO_JOB", job.c_str(), 1);
  ::setenv("ZERO_MEETING", ("unix:@zero-run-" + job).c_str(), 1);
}

Status Children::start(int number, char **arguments, const std::string &job, int processes) {
  const pid_t parent = ::getpid(), id = ::fork();
  if (id < 0)
    return fail(ZERO_RT_IO, "cannot start process %d: %s", number, std::strerror(errno));
  if (id == 0) {
    becomeChild(number, processes, job, parent);
    process::restart(arguments);
    ::_exit(127);
  }
  all.push_back({id, int(::syscall(SYS_pidfd_open, id, 0))});
  return {};
}

static int codeOf(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void Children::wait(int &code) {
  std::vector<pollfd> polls;
  for (const Child &child : all)
    polls.push_back({child.descriptor, POLLIN, 0});
  constexpr int kMilliseconds = 100; // where there are no descriptors of processes
  (void)::poll(polls.data(), polls.size(), kMilliseconds);
  for (size_t i = 0; i < all.size();) {
    int status = 0;
    if (::waitpid(all[i].id, &status, WNOHANG) == 0) {
      ++i;
      continue;
    }
    if (code == 0)
      code = codeOf(status);
    ::close(all[i].descriptor);
    all.erase(all.begin() + ptrdiff_t(i));
  }
}

Status launch(const Options &options, char **arguments, int &code) {
  const int processes = int(*options.processes);
  const std::string job =
      format("%d-%016llx", int(::getpid()), static_cast<unsigned long long>(randomToken()));
  Children children;
  for (int number = 0; number < processes; ++number)
    ZERO_RT_TRY(children.start(number, arguments, job, processes));
  code = 0;
  auto deadline = std::chrono::steady_clock::time_point::max();
  for (int passed = 0; !children.isEmpty();) {
    children.wait(code);
    if (code != 0)
      deadline = std::min(deadline, std::chrono::steady_clock::now() + kGrace);
    if (std::chrono::steady_clock::now() > deadline)
      children.signal(SIGKILL); // one that is stopped
    if (const int signal = process::interruption(); signal != passed) {
      children.signal(signal);
      passed = signal;
    }
  }
  return {};
}

} // namespace zero::run
