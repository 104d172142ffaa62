//===- compile.cpp - run zeroc --------------------------------------------===//

#include "compile.h"

#include "runtime/support/temporary.h"
#include "tools/process/process.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace zero::rt;

namespace zero::run {

/// A folder for the executable that goes away with it, also where this process is killed: the
/// next one sweeps it.
static Status makeFolder(OwnedFolder &folder) {
  const char *root = std::getenv("TMPDIR");
  const std::string path = std::string(root && *root ? root : P_tmpdir) + "/zero-run";
  sweepTemporaries(path);
  return OwnedFolder::create(path, 0700, folder);
}

static std::string besideUs(const char *program) {
  char path[PATH_MAX];
  ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  std::string self(path, length > 0 ? static_cast<size_t>(length) : 0);
  return self.substr(0, self.rfind('/') + 1) + program;
}

static Status spawn(const std::vector<std::string> &words, bool quiet, int &exitCode) {
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (quiet)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child;
  int error = ::posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return fail(ZERO_RT_IO, "cannot start '%s': %s", words[0].c_str(), std::strerror(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    return fail(ZERO_RT_INTERNAL, "zeroc was ended by signal %d", WTERMSIG(status));
  exitCode = WEXITSTATUS(status);
  return {};
}

Status compileAndLoad(const Options &options, Executable &executable, bool &reported) {
  OwnedFolder folder;
  ZERO_RT_TRY(makeFolder(folder));
  const std::string compiled = folder.path() + "/model.zexe";
  std::vector<std::string> words = {besideUs("zeroc"), options.model};
  words.insert(words.end(), options.compilerFlags.begin(), options.compilerFlags.end());
  words.insert(words.end(), {"-o", compiled});
  if (!options.nvmeDir.empty())
    words.insert(words.end(), {"--nvme-dir", options.nvmeDir});
  int exitCode = 0;
  ZERO_RT_TRY(spawn(words, options.quiet, exitCode));
  reported = exitCode != 0;
  if (reported)
    return fail(ZERO_RT_ABORTED, "zeroc failed with exit code %d", exitCode);
  return load(compiled, executable);
}

} // namespace zero::run
