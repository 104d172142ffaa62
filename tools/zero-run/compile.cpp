//===- compile.cpp - run zeroc --------------------------------------------===//

#include "compile.h"

#include "automatic.h"
#include "runtime/format/limits.h"
#include "runtime/support/checked.h"
#include "runtime/support/temporary.h"
#include "tools/process/process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace zero::rt;

namespace zero::run {

std::string compilerFolder() {
  const char *root = std::getenv("TMPDIR");
  return std::string(root && *root ? root : P_tmpdir) + "/zero-run";
}

/// A folder for the executable that goes away with it, also where this process is killed: the
/// next one sweeps it.
static Status makeFolder(OwnedFolder &folder) {
  const std::string path = compilerFolder();
  sweepTemporaries(path);
  return OwnedFolder::create(path, 0700, folder);
}

static std::string besideUs(const char *program) {
  const std::string self = process::ownPath();
  return self.substr(0, self.rfind('/') + 1) + program;
}

/// In the new process: ends with this one, whatever ends that.
static void becomeCompiler(char *const *arguments, bool quiet, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent)
    ::_exit(1);
  if (const int null = quiet ? ::open("/dev/null", O_WRONLY) : -1; null >= 0)
    ::dup2(null, STDOUT_FILENO);
  ::execve(arguments[0], arguments, environ);
  ::_exit(127);
}

static Status spawn(const std::vector<std::string> &words, bool quiet, pid_t &child) {
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  if (::access(arguments[0], X_OK) != 0)
    return fail(ZERO_RT_IO, "cannot start '%s': %s", words[0].c_str(), std::strerror(errno));
  const pid_t parent = ::getpid();
  child = process::forkForProgram();
  if (child < 0)
    return fail(ZERO_RT_IO, "cannot start '%s': %s", words[0].c_str(), std::strerror(errno));
  if (child == 0)
    becomeCompiler(arguments.data(), quiet, parent);
  return {};
}

/// Waits until `child` ends. Passes a signal on to it: one that only this process got, or that came
/// before the child started.
static Status await(pid_t child, const Job &job, int &exitCode) {
  constexpr timespec kPause{0, 10'000'000};
  int status = 0, passed = 0;
  for (pid_t ended = 0; ended != child;) {
    if (ended = ::waitpid(child, &status, WNOHANG); ended == child)
      break;
    if (const int signal = process::interruption(); signal != passed)
      ::kill(child, passed = signal);
    if (Status others = job.sayBusy(); !others.ok()) {
      ::kill(child, SIGTERM);
      (void)::waitpid(child, &status, 0);
      return others;
    }
    ::nanosleep(&kPause, nullptr);
  }
  if (process::interruption())
    return fail(ZERO_RT_ABORTED, "interrupted before the first step");
  if (WIFSIGNALED(status))
    return fail(ZERO_RT_INTERNAL, "zeroc was ended by signal %d", WTERMSIG(status));
  exitCode = WEXITSTATUS(status);
  return {};
}

/// The ranks that the flags say, along all axes; 1 if they say none.
static uint64_t ranksOf(const Options &options, const Job &job) {
  if (options.ranks)
    return *options.ranks;
  if (std::optional<std::string> mesh = options.compilerFlag("mesh")) {
    uint64_t ranks = 1;
    for (size_t at = 0; (at = mesh->find('=', at)) != std::string::npos; ++at) {
      uint64_t size = 0;
      if (parseInteger(mesh->substr(at + 1, mesh->find(',', at) - at - 1), size) && size > 0)
        ranks = std::min<uint64_t>(ranks * std::min<uint64_t>(size, kMostRanks), kMostRanks);
    }
    return ranks;
  }
  return job.isOneOfMany() ? uint64_t(job.processes()) * options.ranksPerProcess.value_or(1) : 1;
}

/// Runs zeroc, which writes `compiled` in `folder`.
static Status compile(const Options &options, const Job &job, const std::string &folder,
                      const std::string &compiled, bool &reported) {
  std::vector<std::string> words = {besideUs("zeroc"), options.model};
  words.insert(words.end(), options.compilerFlags.begin(), options.compilerFlags.end());
  words.insert(words.end(), {"-o", compiled});
  if (job.isOneOfMany() && !options.ranks && !options.compilerFlag("mesh"))
    words.push_back("--ranks=" + std::to_string(ranksOf(options, job)));
  if (options.compilerFlag("config") && options.steps)
    words.push_back("--run-steps=" + std::to_string(*options.steps));
  if (options.automatic)
    ZERO_RT_TRY(addAutomaticFlags(options, job, ranksOf(options, job), folder, words));
  int exitCode = 0;
  pid_t child = 0;
  ZERO_RT_TRY(spawn(words, options.quiet, child));
  ZERO_RT_TRY(await(child, job, exitCode));
  reported = exitCode != 0;
  if (reported)
    return fail(ZERO_RT_ABORTED, "zeroc failed with exit code %d", exitCode);
  return {};
}

Status printAutomaticFlags(Options &options, const Job &job) {
  OwnedFolder folder;
  ZERO_RT_TRY(makeFolder(folder));
  std::vector<std::string> words;
  options.quiet = true;
  ZERO_RT_TRY(addAutomaticFlags(options, job, ranksOf(options, job), folder.path(), words));
  for (const std::string &word : words)
    if (word.find(folder.path()) != std::string::npos)
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "--print-auto: the description of this machine needs a folder that stays: "
                  "expected --machine or --cache-dir");
  for (const std::string &word : words)
    std::printf("%s\n", word.c_str());
  return {};
}

Status compileAndLoad(const Options &options, const Job &job, Executable &executable,
                      bool &reported) {
  OwnedFolder folder;
  std::string compiled;
  Status status;
  if (job.isFirst()) {
    status = makeFolder(folder);
    compiled = folder.path() + "/model.zexe";
    if (status.ok())
      status = compile(options, job, folder.path(), compiled, reported);
  }
  if (job.isOneOfMany()) {
    ZERO_RT_TRY(job.awaitFirst(status));
    ZERO_RT_TRY(job.share(compiled));
  }
  ZERO_RT_TRY(status);
  status = load(compiled, executable);
  return job.agree(status); // before the folder goes
}

} // namespace zero::run
