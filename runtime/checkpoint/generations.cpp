//===- generations.cpp - the checkpoints in a folder ----------------------===//

#include "runtime/checkpoint/generations.h"

#include "runtime/support/checked.h"
#include "runtime/support/file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace zero::rt {

namespace fs = std::filesystem;

static Status ioError(const char *verb, const std::string &path, const std::error_code &error) {
  return fail(ZERO_RT_IO, "cannot %s '%s': %s", verb, escape(path).c_str(),
              error.message().c_str());
}

static std::error_code lastError() { return {errno, std::generic_category()}; }

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string generationName(uint64_t step) {
  return format("step-%08llu", static_cast<unsigned long long>(step));
}

/// A path without '/' at its end.
static std::string trimmed(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

bool parseGenerationName(const std::string &path, uint64_t &step) {
  const std::string name = fs::path(trimmed(path)).filename();
  return name.starts_with("step-") && parseInteger(std::string_view(name).substr(5), step) &&
         generationName(step) == name;
}

std::string draftPath(const std::string &folder, uint64_t step, uint64_t token) {
  return temporaryPath(trimmed(folder) + "/." + generationName(step), token);
}

/// Whether a process writes or removes a generation under this name.
static bool isDraftName(const std::string &name) {
  const size_t mark = name.rfind(".tmp-");
  uint64_t step;
  return mark != std::string::npos && mark > 0 && name[0] == '.' &&
         parseGenerationName(name.substr(1, mark - 1), step);
}

//===----------------------------------------------------------------------===//
// Existing generations
//===----------------------------------------------------------------------===//

/// The names in `folder`; none when there is no such folder.
static Status namesIn(const std::string &folder, std::vector<std::string> &names) {
  std::error_code error;
  fs::directory_iterator at(folder, error), end;
  if (error == std::errc::no_such_file_or_directory)
    return {};
  for (; !error && at != end; at.increment(error))
    names.push_back(at->path().filename());
  return error ? ioError("list", folder, error) : Status();
}

Status listGenerations(const std::string &folder, std::vector<Generation> &generations) {
  std::vector<std::string> names;
  ZERO_RT_TRY(namesIn(folder, names));
  for (const std::string &name : names) {
    Generation generation;
    generation.path = trimmed(folder) + "/" + name;
    if (parseGenerationName(name, generation.step))
      generations.push_back(std::move(generation));
  }
  std::sort(generations.begin(), generations.end(),
            [](const auto &left, const auto &right) { return left.step > right.step; });
  return {};
}

Status findGenerations(const std::string &path, std::vector<Generation> &generations) {
  Generation itself{0, trimmed(path)};
  std::error_code error;
  if (parseGenerationName(path, itself.step) || fs::exists(path + "/manifest.json", error)) {
    generations.push_back(itself);
    return {};
  }
  ZERO_RT_TRY(listGenerations(path, generations));
  return generations.empty()
             ? fail(ZERO_RT_NOT_FOUND, "no checkpoint in '%s'", escape(path).c_str())
             : Status();
}

static bool isAmong(const std::vector<std::string> &paths, const std::string &path) {
  return std::any_of(paths.begin(), paths.end(),
                     [&](const std::string &each) { return isSameFile(each, path); });
}

Status checkNoneLater(const std::string &folder, uint64_t step,
                      const std::vector<std::string> &damaged) {
  std::vector<Generation> generations;
  ZERO_RT_TRY(listGenerations(folder, generations));
  for (const Generation &each : generations)
    if (each.step > step && !isAmong(damaged, each.path))
      return fail(ZERO_RT_INVALID_ARGUMENT,
                  "'%s' is of a later step than %llu; resume from it, or save to another folder",
                  escape(each.path).c_str(), static_cast<unsigned long long>(step));
  return {};
}

//===----------------------------------------------------------------------===//
// Writing and removing
//===----------------------------------------------------------------------===//

/// Removes a folder with its contents; `remarks` has the errors.
static void removeFolder(const std::string &path, std::vector<std::string> &remarks) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error)
    remarks.push_back(ioError("remove", path, error).getMessage());
}

/// Removes temporaries whose process has ended.
static void sweep(const std::string &folder, std::vector<std::string> &remarks) {
  std::vector<std::string> names;
  if (!namesIn(folder, names).ok())
    return; // who writes there next will say why
  for (const std::string &name : names) {
    if (!isDraftName(name))
      continue;
    const std::string path = folder + "/" + name;
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0)
      continue;
    if (lockFile(descriptor) == Locked::Yes)
      removeFolder(path, remarks);
    ::close(descriptor);
  }
}

void sweepDrafts(const std::string &folder) {
  std::error_code error;
  std::shared_ptr<FolderLock> lock;
  std::vector<std::string> ignored; // the next process that saves there tries again
  if (fs::is_directory(folder, error) && FolderLock::take(folder, lock).ok())
    sweep(trimmed(folder), ignored);
}

/// Removes a generation so that half of one never has its name.
static void removeGeneration(const std::string &folder, const Generation &generation,
                             std::vector<std::string> &remarks) {
  const std::string temporary = draftPath(folder, generation.step, randomToken());
  if (::rename(generation.path.c_str(), temporary.c_str()) == 0)
    removeFolder(temporary, remarks);
  else
    remarks.push_back(ioError("rename", generation.path, lastError()).getMessage());
}

Status Draft::create(const std::string &folder, uint64_t step, Draft &draft) {
  Draft made;
  made.folder = trimmed(folder);
  made.step = step;
  ZERO_RT_TRY(FolderLock::take(made.folder, made.lock));
  // files that cannot be removed remain, and the next process tries again
  std::vector<std::string> ignored;
  sweep(made.folder, ignored);
  ZERO_RT_TRY(OwnedFolder::create(made.folder + "/." + generationName(step), 0777, made.temporary));
  draft = std::move(made);
  return {};
}

/// Renames `from` to `to`. A file that has this name gets the other name, if possible.
static bool replace(const std::string &from, const std::string &to) {
  if (::rename(from.c_str(), to.c_str()) == 0)
    return true;
  if (errno != ENOTEMPTY && errno != EEXIST)
    return false;
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0)
    return true;
  if (errno != EINVAL && errno != ENOSYS)
    return false;
  // A file system without exchange. The generation before bridges the gap.
  const std::string aside = from + ".old";
  if (::rename(to.c_str(), aside.c_str()) != 0)
    return false;
  if (::rename(from.c_str(), to.c_str()) == 0)
    return ::rename(aside.c_str(), from.c_str()) == 0;
  const int why = errno;
  (void)::rename(aside.c_str(), to.c_str());
  errno = why;
  return false;
}

Status Draft::removeOthers(const std::vector<std::string> &damaged,
                           std::vector<std::string> &remarks) const {
  std::error_code ignored;
  if (fs::exists(temporary.path(), ignored)) // one that was replaced
    removeFolder(temporary.path(), remarks);
  std::vector<Generation> generations;
  ZERO_RT_TRY(listGenerations(folder, generations));
  size_t before = 0;
  for (const Generation &each : generations)
    if (each.step != step &&
        (each.step > step || isAmong(damaged, each.path) || ++before >= kGenerations))
      removeGeneration(folder, each, remarks);
  return {};
}

Status Draft::commit(std::string &made) {
  const std::string path = folder + "/" + generationName(step), &from = temporary.path();
  ZERO_RT_TRY(syncFolder(from));
  if (!replace(from, path))
    return ioError("rename", from, lastError());
  temporary.keep();
  made = path;
  return syncFolder(folder);
}

} // namespace zero::rt
