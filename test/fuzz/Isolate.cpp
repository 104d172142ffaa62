//===- Isolate.cpp - runs cases in child processes ------------------------===//

#include "Isolate.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <initializer_list>
#include <new>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zero::fuzz {

/// Cases per process. Forking is cheap, and memory that a process leaks must not count for a later
/// case.
static constexpr uint64_t kBatch = 100;
static constexpr const char *kWhy = "fuzz: ";

namespace {
/// State that the child shares with its parent.
struct Shared {
  std::atomic<uint64_t> index;   ///< of the current case
  std::atomic<double> startCpu;  ///< CPU time of the child when the case began
  std::atomic<double> startWall; ///< wall clock time when the case began
  Tally tally;
};
} // namespace

static double seconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  if (!file.flush()) {
    std::fprintf(stderr, "cannot write '%s'\n", path.c_str());
    std::exit(2);
  }
}

void failCase(const std::string &why) {
  std::fprintf(stderr, "%s%s\n", kWhy, why.c_str());
  std::fflush(stderr);
  std::abort();
}

//===----------------------------------------------------------------------===//
// In the child
//===----------------------------------------------------------------------===//

static void limitMemory() {
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
#if !__has_feature(address_sanitizer)
  // The parent limits the resident set. This limit of the address space prevents one huge request
  // from exhausting the machine before the parent checks.
  rlimit space{uint64_t(8) << 30, uint64_t(8) << 30};
  ::setrlimit(RLIMIT_AS, &space);
#endif
}

static void measure(Shared &shared, uint64_t index) {
  Tally &tally = shared.tally;
  const double used = seconds(CLOCK_PROCESS_CPUTIME_ID) - shared.startCpu;
  if (used > tally.worstSeconds) {
    tally.worstSeconds = used;
    tally.worstSecondsCase = index;
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  if (static_cast<uint64_t>(usage.ru_maxrss) > tally.worstKiB) {
    tally.worstKiB = static_cast<uint64_t>(usage.ru_maxrss);
    tally.worstKiBCase = index;
  }
}

[[noreturn]] static void runBatch(Shared &shared, uint64_t last, const std::string &scratch,
                                  const Limits &limits,
                                  const std::function<Verdict(uint64_t)> &body) {
  limitMemory();
  const int log = ::open((scratch + "/stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(log, STDERR_FILENO);
  for (uint64_t index = shared.index; index < last; ++index) {
    shared.startCpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    shared.startWall = seconds(CLOCK_MONOTONIC);
    shared.index = index;
    if (::ftruncate(log, 0) != 0)
      std::_Exit(2);
    const Verdict verdict = body(index);
    measure(shared, index);
    if (shared.tally.worstKiB > limits.residentKiB)
      failCase("more than the allowed memory: " + std::to_string(shared.tally.worstKiB) + " KiB");
    ++(verdict == Verdict::Accepted ? shared.tally.accepted : shared.tally.refused);
  }
  shared.index = last;
  // Does not run the destructors, which are not under test.
  std::_Exit(0);
}

//===----------------------------------------------------------------------===//
// In the parent
//===----------------------------------------------------------------------===//

static uint64_t residentKiB(pid_t child) {
  std::ifstream statm("/proc/" + std::to_string(child) + "/statm");
  uint64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

/// The limit that `child` exceeds now; empty if none.
static std::string excess(const Shared &shared, pid_t child, const Limits &limits) {
  char text[64] = "";
  clockid_t clock{};
  const double cpu = ::clock_getcpuclockid(child, &clock) == 0 ? seconds(clock) : 0;
  if (cpu - shared.startCpu > limits.cpuSeconds)
    std::snprintf(text, sizeof(text), "more than %g s of CPU time", limits.cpuSeconds);
  else if (seconds(CLOCK_MONOTONIC) - shared.startWall > limits.wallSeconds)
    std::snprintf(text, sizeof(text), "more than %g s", limits.wallSeconds);
  else if (residentKiB(child) > limits.residentKiB)
    std::snprintf(text, sizeof(text), "more than %llu KiB of memory",
                  static_cast<unsigned long long>(limits.residentKiB));
  return text;
}

/// Waits for the child to end within its limits. Returns how it failed, or an empty string.
static std::string watch(const Shared &shared, pid_t child, const Limits &limits) {
  int status = 0;
  for (useconds_t pause = 500; ::waitpid(child, &status, WNOHANG) == 0;
       pause = std::min<useconds_t>(2 * pause, 50'000)) {
    std::string reason = excess(shared, child, limits);
    if (!reason.empty()) {
      // An abort prints the stack. Its handler may hang, so the wait for it is bounded.
      ::kill(child, SIGABRT);
      for (int i = 0; i < 100 && ::waitpid(child, &status, WNOHANG) == 0; ++i)
        ::usleep(100'000);
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return reason;
    }
    ::usleep(pause);
  }
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "exit " + std::to_string(WEXITSTATUS(status));
}

/// The first line of `output` that contains one of `marks`, starting at that mark, or an empty
/// string.
static std::string lineWith(const std::string &output, std::initializer_list<const char *> marks) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    for (const char *mark : marks)
      if (size_t at = line.find(mark); at != std::string::npos)
        return line.substr(at);
  return "";
}

/// The kind of failure and, if a stack trace shows it, the function of this project.
static std::string signatureOf(const std::string &output, const std::string &reason) {
  std::string what =
      lineWith(output, {"Assertion", "runtime error:", "AddressSanitizer: ", "LLVM ERROR",
                        "terminate called", kWhy});
  what = what.empty() ? reason : what.substr(0, what.find(" on "));
  std::string where = lineWith(output, {" zero::", "(anonymous namespace)::"});
  where = where.substr(0, where.find('('));
  return where.empty() ? what : what + " in" + where;
}

Tally runIsolated(uint64_t first, uint64_t last, const std::string &scratch, const Limits &limits,
                  const std::function<Verdict(uint64_t)> &body,
                  const std::function<void(const Failure &)> &onFailure) {
  void *memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    std::exit(2);
  auto *shared = new (memory) Shared{};
  shared->index = first;
  while (shared->index < last) {
    std::fflush(nullptr);
    shared->startCpu = 0;
    shared->startWall = seconds(CLOCK_MONOTONIC);
    const pid_t child = ::fork();
    if (child == 0)
      runBatch(*shared, std::min(last, shared->index + kBatch), scratch, limits, body);
    std::string reason = child < 0 ? "cannot fork" : watch(*shared, child, limits);
    if (reason.empty())
      continue;
    ++shared->tally.failed;
    shared->tally.worstKiB = std::min(shared->tally.worstKiB, limits.residentKiB);
    std::string output = readFile(scratch + "/stderr");
    onFailure({shared->index, reason, signatureOf(output, reason), output});
    ++shared->index;
  }
  Tally tally = shared->tally;
  ::munmap(memory, sizeof(Shared));
  return tally;
}

} // namespace zero::fuzz
