//===- tier_file.cpp - a file of the nvme tier ----------------------------===//

#include "runtime/io/tier_file.h"

#include "runtime/support/attempts.h"
#include "runtime/support/checksum.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace zero::rt {

static constexpr char kTierMagic[8] = {'Z', 'E', 'R', 'O', 'T', 'I', 'E', 'R'};
static constexpr uint32_t kTierVersion = 2;

/// One page, which is written in one call. `checksum` covers the page, with this field as zero.
struct alignas(kDiskAlignment) TierFile::Header {
  char magic[8];
  uint32_t version;
  uint32_t isTorn;
  uint64_t checksum;
  uint64_t program;
  uint32_t rank, ranks;
  uint64_t bytes;
  uint64_t generation;
  uint32_t drive, drives;
  uint8_t unused[kDiskAlignment - 64];

  uint64_t computeChecksum() const {
    Header copy = *this;
    copy.checksum = 0;
    return zero::rt::checksum({reinterpret_cast<const uint8_t *>(&copy), sizeof(copy)}, 0);
  }
};

static Status cannot(const char *verb, const std::string &path) {
  return fail(ZERO_RT_IO, "cannot %s '%s': %s", verb, escape(path).c_str(), std::strerror(errno));
}

static unsigned long long count(uint64_t value) { return value; }

uint64_t TierFile::place(uint64_t offset) { return sizeof(Header) + offset; }

TierFile &TierFile::operator=(TierFile &&other) noexcept {
  std::swap(name, other.name);
  std::swap(identity, other.identity);
  std::swap(number, other.number);
  std::swap(current, other.current);
  std::swap(direct, other.direct);
  std::swap(reserved, other.reserved);
  std::swap(own, other.own);
  std::swap(written, other.written);
  return *this;
}

TierFile::~TierFile() {
  own.keep();
  if (number >= 0)
    ::close(number);
}

/// The kernel ends the transfers of a killed process after the process, and with them its locks. A
/// job that is restarted immediately waits for that, at most so many times 10 ms.
static constexpr int kPauses = 200;

/// Reduces `pauses` by those that it took.
static Locked lockSoon(int descriptor, int &pauses) {
  constexpr timespec kPause = {0, 10'000'000};
  Locked locked = lockFile(descriptor);
  for (; locked == Locked::InUse && pauses > 0; --pauses) {
    ::nanosleep(&kPause, nullptr);
    locked = lockFile(descriptor);
  }
  return locked;
}

/// Opens `path` past the cache where that is possible, for this process alone.
Status TierFile::openAndLock(const std::string &path, int flags, int &pauses) {
  name = path;
  flags |= O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  number = ::open(path.c_str(), flags | O_DIRECT, 0600);
  direct = number >= 0;
  if (!direct && errno == EINVAL)
    number = ::open(path.c_str(), flags, 0600);
  if (number < 0)
    return cannot("open", path);
  struct stat info;
  if (::fstat(number, &info) != 0 || !S_ISREG(info.st_mode))
    return fail(ZERO_RT_IO, "cannot open '%s': not a regular file", escape(path).c_str());
  switch (lockSoon(number, pauses)) {
  case Locked::Yes:
    return {};
  case Locked::InUse:
    return fail(ZERO_RT_IO, "'%s' is in use by another process", escape(path).c_str());
  case Locked::Unknown:
    break;
  }
  return cannot("lock", path);
}

/// Reads the first page; `isOurs` is whether it is that of a tier file, complete or not.
Status TierFile::readHeader(Header &header, bool &isOurs) const {
  const ssize_t got = ::pread(number, &header, sizeof(header), 0);
  if (got < 0)
    return cannot("read", name);
  isOurs = size_t(got) >= sizeof(kTierMagic) &&
           std::memcmp(header.magic, kTierMagic, sizeof(kTierMagic)) == 0;
  if (size_t(got) < sizeof(header))
    std::memset(reinterpret_cast<char *>(&header) + got, 0, sizeof(header) - size_t(got));
  return {};
}

/// Checks that the file with this header, of `size` bytes, is the expected one and complete.
Status TierFile::check(const Header &header, uint64_t size) const {
  auto refuse = [&](const std::string &why) {
    return fail(ZERO_RT_BAD_FILE, "'%s': %s", escape(name).c_str(), why.c_str());
  };
  if (header.version != kTierVersion)
    return refuse(
        format("expected version %u of tier files, got %u", kTierVersion, header.version));
  if (header.checksum != header.computeChecksum())
    return refuse("the header is damaged");
  if (header.program != identity.program)
    return refuse("it belongs to another executable");
  if (header.rank != identity.rank || header.ranks != identity.ranks)
    return refuse(format("expected the file of rank %u of %u, got that of rank %u of %u",
                         identity.rank, identity.ranks, header.rank, header.ranks));
  if (header.drive != identity.drive || header.drives != identity.drives)
    return refuse(format("expected the file of drive %u of %u, got that of drive %u of %u",
                         identity.drive, identity.drives, header.drive, header.drives));
  if (header.bytes != identity.bytes || size != place(identity.bytes))
    return refuse(format("expected %llu bytes, got %llu; it was truncated or changed",
                         count(place(identity.bytes)), count(size)));
  if (header.isTorn)
    return refuse(
        format("a process died in step %llu, so its content is incomplete; start from a checkpoint",
               count(header.generation)));
  return {};
}

Status TierFile::checkSpace() const {
  const uint64_t bytes = place(identity.bytes);
  struct statvfs disk;
  if (::fstatvfs(number, &disk) == 0 && uint64_t(disk.f_bavail) * disk.f_frsize < bytes)
    return fail(ZERO_RT_IO, "'%s' needs %llu bytes, its disk has %llu left", escape(name).c_str(),
                count(bytes), count(uint64_t(disk.f_bavail) * disk.f_frsize));
  return {};
}

/// Reserves the space of the entire file, so that no step meets a full disk. If this is not
/// possible, writing the initial values reserves most of it.
Status TierFile::reserve() {
  const uint64_t bytes = place(identity.bytes);
  reserved = ::fallocate(number, 0, 0, static_cast<off_t>(bytes)) == 0;
  if (reserved)
    return {};
  if (errno != EOPNOTSUPP || ::ftruncate(number, static_cast<off_t>(bytes)) != 0)
    return cannot("reserve the space of", name);
  return {};
}

Status TierFile::writeHeader(bool isTorn) const {
  Header header{};
  std::memcpy(header.magic, kTierMagic, sizeof(kTierMagic));
  header.version = kTierVersion;
  header.isTorn = isTorn;
  header.program = identity.program;
  header.rank = identity.rank;
  header.ranks = identity.ranks;
  header.bytes = identity.bytes;
  header.drive = identity.drive;
  header.drives = identity.drives;
  header.generation = current;
  header.checksum = header.computeChecksum();
  if (::pwrite(number, &header, sizeof(header), 0) != ssize_t(sizeof(header)))
    return cannot("write", name);
  written += sizeof(header);
  return {};
}

Status TierFile::create(const std::string &path, const TierIdentity &identity, TierFile &file) {
  TierFile made;
  for (int attempt = 1, pauses = kPauses; attempt <= kAttempts; ++attempt) {
    TierFile opened;
    opened.identity = identity;
    ZERO_RT_TRY(opened.openAndLock(path, O_CREAT, pauses));
    made = std::move(opened);
    if (isStillAt(path, made.number)) // else its owner has deleted it while it was opened
      break;
  }
  Header header;
  bool isOurs = false;
  ZERO_RT_TRY(made.readHeader(header, isOurs));
  struct stat info;
  if (::fstat(made.number, &info) != 0)
    return cannot("open", path);
  if (info.st_size > 0 && !isOurs)
    return fail(ZERO_RT_BAD_FILE, "'%s' exists and is no tier file: it is not overwritten",
                escape(path).c_str());
  made.own = Temporary(path, made.number);
  // Truncates first, so that the space of the old file counts as free.
  Status status = ::ftruncate(made.number, 0) == 0 ? Status() : cannot("write", path);
  if (status.ok())
    status = made.checkSpace();
  // first, so that the file of a process that is killed here is recognized as a tier file
  if (status.ok())
    status = made.writeHeader(/*isTorn=*/false);
  if (status.ok())
    status = made.reserve();
  if (!status.ok())
    made.remove();
  file = std::move(made);
  return status;
}

Status TierFile::open(const std::string &path, const TierIdentity &identity, TierFile &file) {
  TierFile opened;
  opened.identity = identity;
  int pauses = kPauses;
  ZERO_RT_TRY(opened.openAndLock(path, 0, pauses));
  Header header;
  bool isOurs = false;
  ZERO_RT_TRY(opened.readHeader(header, isOurs));
  if (!isOurs)
    return fail(ZERO_RT_BAD_FILE, "'%s' is no tier file", escape(path).c_str());
  struct stat info;
  if (::fstat(opened.number, &info) != 0)
    return cannot("open", path);
  ZERO_RT_TRY(opened.check(header, uint64_t(info.st_size)));
  opened.current = header.generation;
  file = std::move(opened);
  return {};
}

/// Truncated bytes would be read as zeros, once writes have restored the length of the file.
Status TierFile::checkSize() const {
  struct stat info;
  if (::fstat(number, &info) != 0)
    return cannot("read", name);
  return uint64_t(info.st_size) == place(identity.bytes)
             ? Status()
             : fail(ZERO_RT_IO, "'%s': expected %llu bytes, got %llu: it was changed",
                    escape(name).c_str(), count(place(identity.bytes)),
                    count(uint64_t(info.st_size)));
}

Status TierFile::beginStep() {
  ZERO_RT_TRY(checkSize());
  return writeHeader(/*isTorn=*/true);
}

Status TierFile::endStep() {
  ZERO_RT_TRY(checkSize());
  ++current;
  return writeHeader(/*isTorn=*/false);
}

void TierFile::remove() {
  if (number < 0)
    return;
  Temporary(name, number).remove();
  own.keep();
  ::close(std::exchange(number, -1));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static constexpr std::string_view kPrefix = "zero-rank", kSuffix = ".nvme";

std::string tierPath(const std::string &folder, int rank) {
  return folder + "/" + std::string(kPrefix) + std::to_string(rank) + std::string(kSuffix);
}

void TierFile::sweep(const std::string &folder) {
  std::error_code error;
  int pauses = kPauses; // for all files
  for (const auto &entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    TierFile file;
    Header header;
    bool isOurs = false;
    if (name.starts_with(kPrefix) && name.ends_with(kSuffix) &&
        file.openAndLock(entry.path(), 0, pauses).ok() && file.readHeader(header, isOurs).ok() &&
        isOurs)
      file.remove();
  }
}

} // namespace zero::rt
