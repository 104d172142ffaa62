//===- file.cpp - files, opened and replaced with care --------------------===//

#include "runtime/support/file.h"

#include <algorithm>
#include <cerrno>
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

MappedFile::~MappedFile() {
  if (data)
    ::munmap(const_cast<uint8_t *>(data), size);
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
    result.data = static_cast<const uint8_t *>(address);
    result.size = size;
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

Status InputFile::read(uint64_t offset, void *destination, uint64_t bytes) const {
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

OutputFile::~OutputFile() { abandon(); }

void OutputFile::abandon() {
  if (descriptor < 0)
    return;
  ::close(std::exchange(descriptor, -1));
  ::unlink(temporary.c_str());
}

Status OutputFile::create(const std::string &path, OutputFile &file) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return fail(ZERO_RT_IO, "cannot write '%s': not a regular file", escape(path).c_str());
  file.path = path;
  file.temporary = path + ".tmp." + std::to_string(::getpid());
  file.descriptor =
      ::open(file.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  return file.descriptor < 0 ? ioError("write", path) : Status();
}

Status OutputFile::write(const void *data, size_t bytes) {
  auto *source = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t put = ::write(descriptor, source, bytes);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return ioError("write", path);
    source += put;
    bytes -= static_cast<size_t>(put);
  }
  return {};
}

void syncFolderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  ::fsync(descriptor);
  ::close(descriptor);
}

Status OutputFile::commit() {
  if (::fsync(descriptor) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
    Status status = ioError("write", path);
    abandon();
    return status;
  }
  ::close(std::exchange(descriptor, -1));
  syncFolderOf(path);
  return {};
}

} // namespace zero::rt
