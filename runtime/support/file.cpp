//===- file.cpp - open and replace files ----------------------------------===//

#include "runtime/support/file.h"

#include "runtime/support/attempts.h"
#include "runtime/support/signal_table.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace zero::rt {

static Status ioError(const char *verb, const std::string &path) {
  return fail(ZERO_RT_IO, "cannot %s '%s': %s", verb, escape(path).c_str(), std::strerror(errno));
}

bool isSameFile(const std::string &left, const std::string &right) {
  struct stat a, b;
  return ::stat(left.c_str(), &a) == 0 && ::stat(right.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

/// Opens a regular file. O_NONBLOCK so that a FIFO cannot hang the open.
static Status openRegular(const std::string &path, int &descriptor, uint64_t &size) {
  descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return ioError("open", path);
  struct stat info;
  if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(std::exchange(descriptor, -1));
    return fail(ZERO_RT_IO, "cannot open '%s': not a regular file", escape(path).c_str());
  }
  size = static_cast<uint64_t>(info.st_size);
  return {};
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

struct MappedRange {
  std::string path;
  const uint8_t *data;
  size_t size;
};

static constinit SignalTable<MappedRange> mappedRanges;

const char *mappedFileAt(const void *address) {
  const char *found = nullptr;
  mappedRanges.drain([&](const MappedRange &range) {
    const size_t offset = size_t(static_cast<const uint8_t *>(address) - range.data);
    if (offset >= range.size)
      return false;
    found = range.path.c_str();
    return true;
  });
  return found;
}

MappedFile::~MappedFile() {
  if (!mapping || !mappedRanges.take(mapping))
    return;
  ::munmap(const_cast<uint8_t *>(mapping->data), mapping->size);
  delete mapping;
}

std::span<const uint8_t> MappedFile::bytes() const {
  return mapping ? std::span(mapping->data, mapping->size) : std::span<const uint8_t>();
}

void MappedFile::release(std::span<const uint8_t> part) const {
  const size_t offset = size_t(part.data() - bytes().data());
  if (offset >= bytes().size() || part.size() > bytes().size() - offset)
    return;
  const size_t begin = offset / size_t(::sysconf(_SC_PAGESIZE)) * size_t(::sysconf(_SC_PAGESIZE));
  ::madvise(const_cast<uint8_t *>(bytes().data()) + begin, offset - begin + part.size(),
            MADV_DONTNEED);
}

Status MappedFile::open(const std::string &path, MappedFile &file) {
  int descriptor;
  uint64_t size;
  ZERO_RT_TRY(openRegular(path, descriptor, size));
  MappedFile result;
  if (size > 0) {
    void *address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) {
      Status status = ioError("map", path);
      ::close(descriptor);
      return status;
    }
    result.mapping = new MappedRange{path, static_cast<const uint8_t *>(address), size};
    mappedRanges.add(result.mapping);
  }
  ::close(descriptor);
  file = std::move(result);
  return {};
}

InputFile::~InputFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Status InputFile::open(const std::string &path, InputFile &file) {
  file.path = path;
  return openRegular(path, file.descriptor, file.length);
}

/// Reads exactly `bytes` bytes.
static Status readAt(int descriptor, const std::string &path, uint64_t offset, void *destination,
                     uint64_t bytes) {
  auto *target = static_cast<char *>(destination);
  while (bytes > 0) {
    ssize_t got = ::pread(descriptor, target, std::min<uint64_t>(bytes, 1u << 30),
                          static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return ioError("read", path);
    if (got == 0)
      return fail(ZERO_RT_IO, "cannot read '%s': it ends at byte %llu", escape(path).c_str(),
                  static_cast<unsigned long long>(offset));
    target += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
  return {};
}

Status InputFile::read(uint64_t offset, void *destination, uint64_t bytes) const {
  return readAt(descriptor, path, offset, destination, bytes);
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

static std::string folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

Status syncFolder(const std::string &folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return errno == EACCES ? Status() : ioError("open", folder);
  Status status;
  if (::fsync(descriptor) != 0 && errno != EINVAL && errno != EOPNOTSUPP && errno != ENOSYS)
    status = ioError("flush folder", folder);
  ::close(descriptor);
  return status;
}

Status syncFolderOf(const std::string &path) { return syncFolder(folderOf(path)); }

Status makeFolders(const std::string &folder) {
  struct stat info;
  if (::stat(folder.c_str(), &info) == 0)
    return S_ISDIR(info.st_mode)
               ? Status()
               : fail(ZERO_RT_IO, "cannot make folder '%s': it is a file", escape(folder).c_str());
  if (const std::string parent = folderOf(folder); parent != folder)
    ZERO_RT_TRY(makeFolders(parent));
  if (::mkdir(folder.c_str(), 0777) == 0)
    return syncFolderOf(folder);
  return errno == EEXIST ? Status() : ioError("make folder", folder);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

OutputFile::~OutputFile() { abandon(); }

void OutputFile::abandon() {
  own.remove();
  if (descriptor >= 0)
    ::close(std::exchange(descriptor, -1));
}

static Status checkRegular(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return fail(ZERO_RT_IO, "cannot write '%s': not a regular file", escape(path).c_str());
  return {};
}

/// Creates the file. A temporary must not be there.
Status OutputFile::open() {
  const std::string &name = temporary.empty() ? path : temporary;
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
  descriptor = ::open(name.c_str(), flags | (temporary.empty() ? O_TRUNC : O_EXCL), 0666);
  if (descriptor < 0)
    return ioError("write", path);
  own = Temporary(name, descriptor);
  return {};
}

Status OutputFile::create(const std::string &path, OutputFile &file) {
  ZERO_RT_TRY(checkRegular(path));
  sweepTemporaries(path);
  for (int attempt = 1;; ++attempt) {
    OutputFile made;
    made.path = path;
    made.temporary = temporaryPath(path, randomToken());
    ZERO_RT_TRY(made.open());
    const bool isSwept =
        lockFile(made.descriptor) == Locked::InUse || !isStillAt(made.temporary, made.descriptor);
    if (isSwept && attempt < kAttempts)
      continue;
    file = std::move(made);
    return {};
  }
}

Status OutputFile::createInTemporary(const std::string &path, OutputFile &file) {
  ZERO_RT_TRY(checkRegular(path));
  OutputFile made;
  made.path = path;
  ZERO_RT_TRY(made.open());
  file = std::move(made);
  return {};
}

/// Calls `write(source, bytes)` until all are written: like write(2), it may write fewer.
template <typename Write>
static Status writeAll(const std::string &path, const void *data, size_t bytes, Write write) {
  auto *source = static_cast<const char *>(data);
  while (bytes > 0) {
    const ssize_t put = write(source, bytes);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return ioError("write", path);
    source += put;
    bytes -= static_cast<size_t>(put);
  }
  return {};
}

static Status writeAllAt(int descriptor, const std::string &path, uint64_t offset, const void *data,
                         size_t bytes) {
  return writeAll(path, data, bytes, [&](const char *source, size_t left) {
    return ::pwrite(descriptor, source, left, static_cast<off_t>(offset + bytes - left));
  });
}

Status OutputFile::write(const void *data, size_t bytes) {
  return writeAll(path, data, bytes, [&](const char *source, size_t left) {
    return ::write(descriptor, source, left);
  });
}

Status OutputFile::skip(uint64_t bytes, uint64_t &begin) {
  const off_t end = ::lseek(descriptor, static_cast<off_t>(bytes), SEEK_CUR);
  begin = static_cast<uint64_t>(end) - bytes;
  return end < 0 ? ioError("write", path) : Status();
}

Status OutputFile::writeAt(uint64_t offset, const void *data, size_t bytes) {
  return writeAllAt(descriptor, path, offset, data, bytes);
}

Status OutputFile::sync() { return ::fsync(descriptor) == 0 ? Status() : ioError("flush", path); }

Status OutputFile::publish() {
  ZERO_RT_TRY(sync());
  if (temporary.empty())
    return {};
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return fail(ZERO_RT_IO, "cannot write '%s': renaming its temporary: %s", escape(path).c_str(),
                std::strerror(errno));
  own.keep();
  temporary.clear();
  return syncFolderOf(path);
}

Status OutputFile::commit() {
  Status status = publish();
  if (status.ok())
    own.keep();
  abandon();
  return status;
}

//===----------------------------------------------------------------------===//
// Files without a name
//===----------------------------------------------------------------------===//

Status ScratchFile::create(std::unique_ptr<ScratchFile> &file) {
  const char *folder = std::getenv("TMPDIR");
  std::string path = std::string(folder && *folder ? folder : "/tmp") + "/zero-XXXXXX";
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0)
    return ioError("create", path);
  ::unlink(path.c_str());
  file.reset(new ScratchFile(std::move(path), descriptor));
  return {};
}

ScratchFile::~ScratchFile() { ::close(descriptor); }

Status ScratchFile::write(uint64_t offset, const void *data, uint64_t bytes) {
  return writeAllAt(descriptor, path, offset, data, bytes);
}

Status ScratchFile::read(uint64_t offset, void *destination, uint64_t bytes) const {
  return readAt(descriptor, path, offset, destination, bytes);
}

} // namespace zero::rt
