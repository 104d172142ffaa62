//===- children.cpp - processes that this one has started -----------------===//

#include "children.h"

#include "tools/process/process.h"

#include <cerrno>
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

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

int End::code() const { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

bool End::isInterruption() const {
  if (!WIFEXITED(status))
    return false;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    if (WEXITSTATUS(status) == 128 + signal)
      return true;
  return false;
}

std::string End::text() const {
  if (WIFSIGNALED(status))
    return format("process %d was ended by signal %d (%s)", process, WTERMSIG(status),
                  ::strsignal(WTERMSIG(status)));
  return format("process %d ended with exit code %d", process, WEXITSTATUS(status));
}

//===----------------------------------------------------------------------===//
// Children
//===----------------------------------------------------------------------===//

static void setNumber(const char *name, int value) {
  ::setenv(name, std::to_string(value).c_str(), 1);
}

/// In a group of its own, so that a terminal's Ctrl-C reaches it once, through its parent, with
/// which it ends.
static void becomeChild(int process, const Start &start, const std::string &job, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(1);
  setNumber("ZERO_PROCESS", process);
  setNumber("ZERO_PROCESSES", start.processes);
  setNumber("ZERO_ATTEMPT", start.attempt);
  ::setenv("ZERO_JOB", job.c_str(), 1);
  ::setenv("ZERO_MEETING", ("unix:@zero-run-" + job).c_str(), 1);
}

Status Children::start(int process, const Start &start, const std::string &job) {
  const pid_t parent = ::getpid(), id = process::forkForProgram();
  if (id < 0)
    return fail(ZERO_RT_IO, "cannot start process %d: %s", process, std::strerror(errno));
  if (id == 0) {
    becomeChild(process, start, job, parent);
    std::vector<char *> words;
    for (const std::string &word : start.arguments)
      words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);
    process::restart(words.data());
    ::_exit(127);
  }
  all.push_back({process, id, int(::syscall(SYS_pidfd_open, id, 0))});
  return {};
}

void Children::signal(int number) const {
  for (const Child &child : all)
    ::kill(child.id, number);
}

void Children::killStopped() const {
  for (const Child &child : all) {
    siginfo_t info = {};
    if (::waitid(P_PID, id_t(child.id), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid)
      ::kill(child.id, SIGKILL);
  }
}

Children::~Children() {
  signal(SIGKILL);
  for (const Child &child : all) {
    ::waitpid(child.id, nullptr, 0);
    ::close(child.descriptor);
  }
}

void Children::wait(End &first) {
  std::vector<pollfd> polls;
  for (const Child &child : all)
    polls.push_back({child.descriptor, POLLIN, 0});
  constexpr int kMilliseconds = 100; // where there are no descriptors of processes
  (void)::poll(polls.data(), polls.size(), kMilliseconds);
  End found;
  for (size_t i = 0; i < all.size();) {
    int status = 0;
    if (::waitpid(all[i].id, &status, WNOHANG) == 0) {
      ++i;
      continue;
    }
    // Of several at once, one that was killed is why the others failed.
    if (status != 0 && (!found.isFailure() || WIFSIGNALED(status)))
      found = {all[i].process, status};
    ::close(all[i].descriptor);
    all.erase(all.begin() + ptrdiff_t(i));
  }
  if (!first.isFailure())
    first = found;
}

} // namespace zero::run
