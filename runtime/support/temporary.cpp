//===- temporary.cpp - temporary files ------------------------------------===//

#include "runtime/support/temporary.h"

#include "runtime/support/attempts.h"
#include "runtime/support/signal_table.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <random>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace zero::rt {

static constexpr char kMark[] = ".tmp-";
static constexpr size_t kDigits = 16;

//===----------------------------------------------------------------------===//
// Names and locks
//===----------------------------------------------------------------------===//

uint64_t randomToken() {
  uint64_t token;
  if (::getrandom(&token, sizeof(token), GRND_NONBLOCK) == ssize_t(sizeof(token)))
    return token;
  std::random_device device; // a kernel without getrandom(2)
  return uint64_t(device()) << 32 | device();
}

std::string temporaryPath(const std::string &path, uint64_t token) {
  return path + kMark + format("%016llx", static_cast<unsigned long long>(token));
}

bool isTemporaryName(const std::string &name, const std::string &original) {
  const std::string begin = original + kMark;
  return name.size() == begin.size() + kDigits && name.starts_with(begin) &&
         name.find_first_not_of("0123456789abcdef", begin.size()) == std::string::npos;
}

Locked lockFile(int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return Locked::Yes;
  return errno == EWOULDBLOCK ? Locked::InUse : Locked::Unknown;
}

static bool isSame(const char *path, dev_t device, ino_t inode) {
  struct stat info;
  return ::lstat(path, &info) == 0 && info.st_dev == device && info.st_ino == inode;
}

bool isStillAt(const std::string &path, int descriptor) {
  struct stat info;
  return ::fstat(descriptor, &info) == 0 && isSame(path.c_str(), info.st_dev, info.st_ino);
}

//===----------------------------------------------------------------------===//
// The table. A signal handler may call the following functions unless their comments say otherwise
//===----------------------------------------------------------------------===//

struct TemporaryEntry {
  std::string path;
  dev_t device = 0;
  ino_t inode = 0;
  bool isFolder = false;
  std::atomic<char *> survivor{nullptr}; ///< its name after a failure

  ~TemporaryEntry() { ::free(survivor); }
};

static constinit SignalTable<TemporaryEntry> table;

/// Deletes the files in a folder, one level deep: opendir(3) would allocate.
static void empty(const char *path) {
  struct Entry { // linux_dirent64 of getdents64(2)
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[1];
  };
  const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0)
    return;
  alignas(uint64_t) char entries[4096];
  long got;
  while ((got = ::syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0)
    for (long at = 0; at < got;) {
      const auto *each = reinterpret_cast<const Entry *>(entries + at);
      (void)::unlinkat(folder, each->name, 0); // not "." and ".."
      at += each->length;
    }
  ::close(folder);
}

/// Deletes the file of `entry`, if it still exists.
static void removeOwn(const TemporaryEntry &entry) {
  const char *path = entry.path.c_str();
  if (!isSame(path, entry.device, entry.inode))
    return;
  if (!entry.isFolder) {
    (void)::unlink(path);
    return;
  }
  empty(path);
  (void)::rmdir(path);
}

Temporary::Temporary(const std::string &path, int descriptor) { // not in a handler
  struct stat info;
  if (::fstat(descriptor, &info) != 0)
    return;
  entry = new TemporaryEntry{path, info.st_dev, info.st_ino, S_ISDIR(info.st_mode)};
  table.add(entry);
}

/// Takes it out of the table, unless a signal handler has, which ends the process.
void Temporary::release() {
  if (table.take(entry))
    delete entry;
  entry = nullptr;
}

void Temporary::keep() {
  if (entry)
    release();
}

void Temporary::remove() {
  if (!entry)
    return;
  removeOwn(*entry);
  release();
}

void Temporary::surviveFailureAs(const std::string &path) {
  if (entry && !entry->survivor)
    entry->survivor = ::strdup(path.c_str());
}

void removeTemporaries(bool isFailure) {
  table.drain([&](TemporaryEntry &entry) {
    if (isFailure && entry.survivor && isSame(entry.path.c_str(), entry.device, entry.inode))
      (void)::rename(entry.path.c_str(), entry.survivor);
    else
      removeOwn(entry);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Files of other processes
//===----------------------------------------------------------------------===//

void sweepTemporaries(const std::string &path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const std::string name = path.substr(folder.size());
  DIR *listed = ::opendir(folder.empty() ? "." : folder.c_str());
  if (!listed)
    return; // who writes there next says why
  while (const dirent *each = ::readdir(listed)) {
    if (!isTemporaryName(each->d_name, name))
      continue;
    const std::string found = folder + each->d_name;
    constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int descriptor = ::open(found.c_str(), kFlags | O_RDWR); // as locks over a network need it
    if (descriptor < 0)
      descriptor = ::open(found.c_str(), kFlags | O_RDONLY | O_DIRECTORY);
    if (descriptor < 0)
      continue;
    if (lockFile(descriptor) == Locked::Yes)
      Temporary(found, descriptor).remove();
    ::close(descriptor);
  }
  ::closedir(listed);
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

OwnedFolder &OwnedFolder::operator=(OwnedFolder &&other) noexcept {
  std::swap(name, other.name);
  std::swap(number, other.number);
  std::swap(own, other.own);
  std::swap(descriptor, other.descriptor);
  return *this;
}

OwnedFolder::~OwnedFolder() {
  own.remove();
  if (descriptor >= 0)
    ::close(descriptor);
}

Status OwnedFolder::create(const std::string &path, unsigned mode, OwnedFolder &folder) {
  for (int attempt = 1;; ++attempt) {
    OwnedFolder made;
    made.number = randomToken();
    made.name = temporaryPath(path, made.number);
    auto cannot = [&](int why) {
      return fail(ZERO_RT_IO, "cannot make folder '%s': %s", escape(made.name).c_str(),
                  std::strerror(why));
    };
    if (::mkdir(made.name.c_str(), mode) != 0)
      return cannot(errno);
    made.descriptor = ::open(made.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (made.descriptor < 0 && (errno != ENOENT || attempt == kAttempts)) {
      const int why = errno;
      (void)::rmdir(made.name.c_str());
      return cannot(why);
    }
    const bool isSwept = made.descriptor < 0 || lockFile(made.descriptor) == Locked::InUse ||
                         !isStillAt(made.name, made.descriptor);
    if (isSwept && attempt < kAttempts)
      continue;
    made.own = Temporary(made.name, made.descriptor);
    folder = std::move(made);
    return {};
  }
}

} // namespace zero::rt
