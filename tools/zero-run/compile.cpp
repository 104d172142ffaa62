//===- compile.cpp - runs the zeroc beside us -----------------------------===//

#include "compile.h"

#include "interrupt.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace zero::rt;

namespace zero::run {

namespace {
/// A folder of our own that goes away with what is in it.
class TemporaryFolder {
public:
  Status create() {
    const char *root = std::getenv("TMPDIR");
    std::string pattern = std::string(root && *root ? root : P_tmpdir) + "/zero-run-XXXXXX";
    if (!::mkdtemp(pattern.data()))
      return fail(ZERO_RT_IO, "cannot create a folder like '%s': %s", pattern.c_str(),
                  std::strerror(errno));
    folder = pattern;
    removeWhenKilled(executable());
    removeWhenKilled(folder);
    return {};
  }
  std::string executable() const { return folder + "/model.zexe"; }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!folder.empty())
      std::filesystem::remove_all(folder, ignored);
  }

private:
  std::string folder;
};
} // namespace

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
  TemporaryFolder folder;
  ZERO_RT_TRY(folder.create());
  std::vector<std::string> words = {besideUs("zeroc"), options.model};
  words.insert(words.end(), options.compilerFlags.begin(), options.compilerFlags.end());
  words.insert(words.end(), {"-o", folder.executable()});
  if (!options.nvmeDir.empty())
    words.insert(words.end(), {"--nvme-dir", options.nvmeDir});
  int exitCode = 0;
  ZERO_RT_TRY(spawn(words, options.quiet, exitCode));
  reported = exitCode != 0;
  if (reported)
    return fail(ZERO_RT_ABORTED, "zeroc failed with exit code %d", exitCode);
  return load(folder.executable(), executable);
}

} // namespace zero::run
