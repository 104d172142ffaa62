//===- folder_lock.cpp - lock a folder of checkpoints ---------------------===//

#include "runtime/checkpoint/folder_lock.h"

#include "runtime/support/attempts.h"
#include "runtime/support/file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

namespace zero::rt {

FolderLock::~FolderLock() {
  own.remove(); // while it is locked: who opens it later finds that it is not there any more
  if (descriptor >= 0)
    ::close(descriptor);
}

Status FolderLock::lockFolder(const std::string &folder, FolderLock &lock) {
  const std::string path = folder + "/.lock";
  for (int attempt = 1;; ++attempt) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0)
      return fail(ZERO_RT_IO, "cannot write '%s': %s", escape(path).c_str(), std::strerror(errno));
    const Locked locked = lockFile(file);
    if (locked == Locked::InUse) {
      ::close(file);
      return fail(ZERO_RT_IO,
                  "'%s' is in use by another process: a folder has the checkpoints of one run",
                  escape(folder).c_str());
    }
    if (locked == Locked::Unknown || isStillAt(path, file) || attempt == kAttempts) {
      lock.own = Temporary(path, file);
      lock.descriptor = file;
      return {};
    }
    ::close(file); // its owner has deleted it since
  }
}

Status FolderLock::take(const std::string &folder, std::shared_ptr<FolderLock> &lock) {
  static std::mutex mutex;
  static auto &taken = *new std::map<std::pair<dev_t, ino_t>, std::weak_ptr<FolderLock>>;
  ZERO_RT_TRY(makeFolders(folder));
  struct stat info;
  if (::stat(folder.c_str(), &info) != 0)
    return fail(ZERO_RT_IO, "cannot open '%s': %s", escape(folder).c_str(), std::strerror(errno));
  std::lock_guard guard(mutex);
  std::weak_ptr<FolderLock> &known = taken[{info.st_dev, info.st_ino}];
  if (std::shared_ptr<FolderLock> there = known.lock()) {
    lock = std::move(there);
    return {};
  }
  std::shared_ptr<FolderLock> made(new FolderLock);
  ZERO_RT_TRY(lockFolder(folder, *made));
  known = made;
  lock = std::move(made);
  return {};
}

} // namespace zero::rt
